/// The memory of tensors as arrays of others (NumPy, buffers, DLPack, CUDA), and the other way.
#pragma once

#include "python/bindings/arguments.h"

namespace treadle::python {

/// A tensor over the memory of an array, which it keeps alive. Throws DTypeError, DeviceError, ShapeError or
/// ValueError for what a tensor cannot lie over.
Tensor over_array(nb::object source);

/// The same bits as a dtype of the same size, over the same memory.
Tensor reinterpreted(const Tensor& x, DType dtype);

/// Methods and properties that give the memory away, and those of the buffer protocol.
void def_memory(nb::class_<Tensor>& type);
extern PyType_Slot buffer_slots[];

}  // namespace treadle::python
