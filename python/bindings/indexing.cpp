#include "python/bindings/indexing.h"

#include <algorithm>

#include <fmt/core.h>

#include "treadle/core/error.h"
#include "treadle/ops/layout/views.h"

namespace treadle::python {

std::optional<Tensor> basic_view(const Tensor& x, nb::handle key) {
  const bool is_tuple = nb::isinstance<nb::tuple>(key);
  const Py_ssize_t count = is_tuple ? PyTuple_GET_SIZE(key.ptr()) : 1;
  const auto entry = [&](Py_ssize_t i) {
    return is_tuple ? nb::handle(PyTuple_GET_ITEM(key.ptr(), i)) : key;
  };
  const auto is_index = [](nb::handle one) {
    return PyIndex_Check(one.ptr()) && !PyBool_Check(one.ptr()) && !nb::isinstance<Tensor>(one) &&
           !PySequence_Check(one.ptr());
  };
  int used = 0, ellipses = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const nb::handle one = entry(i);
    if (one.is_none()) continue;
    if (one.ptr() == Py_Ellipsis)
      ++ellipses;
    else if (is_index(one) || PySlice_Check(one.ptr()))
      ++used;
    else
      return {};
  }
  if (ellipses > 1) throw nb::index_error("an index has at most one ellipsis");
  if (used > x.rank())
    throw nb::index_error(fmt::format("{} indices for a tensor of shape {}", used, x.shape()).c_str());
  Tensor y = x;
  int axis = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const nb::handle one = entry(i);
    if (one.is_none()) {
      y = unsqueeze(y, axis++);
    } else if (one.ptr() == Py_Ellipsis) {
      axis += x.rank() - used;
    } else if (PySlice_Check(one.ptr())) {
      Py_ssize_t begin, end, step;
      if (PySlice_Unpack(one.ptr(), &begin, &end, &step) < 0) nb::raise_python_error();
      if (step < 0) return {};
      const int64_t extent = y.shape()[axis], length = PySlice_AdjustIndices(extent, &begin, &end, step);
      if (length != extent || step != 1) y = slice(y, axis, begin, std::max(begin, end), step);
      ++axis;
    } else {
      const int64_t extent = y.shape()[axis];
      const Py_ssize_t index = PyNumber_AsSsize_t(one.ptr(), PyExc_IndexError);
      if (index == -1 && PyErr_Occurred()) nb::raise_python_error();
      if (index < -extent || index >= extent)
        throw nb::index_error(
            fmt::format("index {} is out of range for axis {} of extent {}", index, axis, extent).c_str());
      const int64_t place = index < 0 ? index + extent : index;
      y = squeeze(slice(y, axis, place, place + 1), axis);
    }
  }
  return y;
}

}  // namespace treadle::python
