/// What a checked program reports, as it goes through a file: written by the program, read by who shows it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "treadle/core/export.h"

namespace treadle::simt {

/// Where something happened: an address in the program until a Symbolizer has found file and line.
struct TREADLE_API Place {
  uint64_t address = 0;  ///< in the program's file; 0 when file and line are known, or nothing is
  std::string file;
  unsigned line = 0;
  std::string function;

  bool known() const { return line != 0; }
};

using Coordinates = std::array<unsigned, 3>;  ///< x, y, z

/// Equal mistakes at equal places, the first of them in full.
struct TREADLE_API Report {
  std::string kind;  ///< race, out-of-bounds, uninitialised, … : see docs/simt.md
  std::string message;
  std::string kernel;  ///< empty where none runs
  Place place;
  Place other;  ///< the second access, the allocation, the other barrier; nothing known when there is none
  Coordinates block{}, thread{}, other_block{}, other_thread{};
  std::string allocation;  ///< a variable's name, or a block of device memory in words
  int64_t offset = 0;      ///< from its begin, in bytes
  uint64_t bytes = 0;      ///< of the access
  uint64_t count = 1;
  uint64_t launch = 0;  ///< the first that showed it, counted from 1
};

struct TREADLE_API RunReport {
  std::string program;
  std::string schedule;
  uint64_t seed = 0;
  uint64_t launches = 0;
  double seconds = 0;
  std::vector<Report> reports;
};

TREADLE_API std::string to_json(const RunReport& run);
/// Throws FormatError for text that to_json did not write.
TREADLE_API RunReport run_report_from_json(const std::string& text);

}  // namespace treadle::simt
