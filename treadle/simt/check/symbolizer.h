/// From addresses in a program to source lines.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "treadle/core/export.h"
#include "treadle/simt/check/report.h"

namespace treadle::simt {

/// Fills in file, line and function of all places that have an address only, by addr2line of binutils. An
/// access in a function of Treadle's device headers, or of the system's, that was inlined counts for the line
/// that called it. Leaves them as they are where addr2line is missing or knows nothing.
TREADLE_API void symbolize(std::vector<Report>& reports, const std::string& program);

/// The name of a kernel or device function without its parameters: "scale<float>" of "scale<float>(float*)".
TREADLE_API std::string without_parameters(const std::string& function);

}  // namespace treadle::simt
