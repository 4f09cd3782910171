/// The arithmetic of a program's stretches of code, read from its instructions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "treadle/core/export.h"
#include "treadle/simt/profile/kernel_profile.h"

namespace treadle::simt {

struct TREADLE_API Instruction {
  uint64_t address = 0;
  Arithmetic single, twice;
  bool is_function = false;  ///< a call of exp, log, sin or their kin
};

/// By the address of a stretch's first instruction, which is the one behind the call that counts it.
using StretchesOfCode = std::map<uint64_t, std::vector<Instruction>>;

/// Of what `objdump -d --no-show-raw-insn` prints of a profiled program for x86-64. A stretch ends where the
/// next one is counted, or its function ends; the calls that count are no part of it.
TREADLE_API StretchesOfCode stretches_of(const std::vector<std::string_view>& disassembly);

}  // namespace treadle::simt
