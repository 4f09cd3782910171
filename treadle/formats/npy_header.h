/// The header of an .npy file: a Python dictionary with dtype, order and shape. Internal to formats/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "treadle/core/dtype.h"
#include "treadle/core/shape.h"

namespace treadle {

struct NpyHeader {
  DType dtype = DType::f32;
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
};

/// Parses the dictionary. `file` begins messages. Throws FormatError.
NpyHeader parse_npy_header(std::string_view text, std::string_view file);

/// The dictionary of an array in C's order and little-endian.
std::string compose_npy_header(DType dtype, const Shape& shape);

}  // namespace treadle
