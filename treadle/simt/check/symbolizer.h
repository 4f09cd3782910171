/// From addresses in a program to source lines.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "treadle/core/export.h"
#include "treadle/simt/check/report.h"

namespace treadle::simt {

/// Fills in file, line and function of all places that have an address only, by addr2line of binutils. An
/// access in a function of Treadle's device headers, or of the system's, that was inlined counts for the line
/// that called it. Leaves them as they are where addr2line is missing or knows nothing.
TREADLE_API void symbolize(std::vector<Report>& reports, const std::string& program);

/// The same for places by their addresses.
TREADLE_API void find_places(std::map<uint64_t, Place>& places, const std::string& program);

/// Whether a file is of the one who wrote the program: not one of the headers that it includes.
TREADLE_API bool of_the_program(const std::string& file);

/// A file as the user would write it: without detours by way of `..`, from the working folder where it lies
/// below that.
TREADLE_API std::string shortened_path(const std::string& file);

/// The lines that a command prints.
TREADLE_API std::vector<std::string> output_lines(const std::string& command);
/// A text in quotes for a shell.
TREADLE_API std::string quoted_for_shell(const std::string& text);

}  // namespace treadle::simt
