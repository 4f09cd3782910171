#include "treadle/simt/profile/disassembly.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>

namespace treadle::simt {
namespace {

constexpr std::string_view kCounter = "__sanitizer_cov_trace_pc";

/// An instruction's line: "  401136:\tcall   401020 <expf@plt>".
struct Words {
  uint64_t address = 0;
  std::string_view mnemonic, operands;
};

bool parse(std::string_view line, Words& words) {
  const size_t begin = line.find_first_not_of(' '), colon = line.find(":\t");
  if (begin == 0 || begin == std::string_view::npos || colon == std::string_view::npos || colon < begin)
    return false;
  const char* end = line.data() + colon;
  if (std::from_chars(line.data() + begin, end, words.address, 16).ptr != end) return false;
  line.remove_prefix(colon + 2);
  const size_t space = std::min(line.find(' '), line.size());
  words.mnemonic = line.substr(0, space);
  line.remove_prefix(space);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  words.operands = line;
  return true;
}

/// "expf" of "401020 <expf@plt>".
std::string_view called(const Words& words) {
  if (words.mnemonic != "call" && words.mnemonic != "jmp") return {};
  const size_t begin = words.operands.find('<'), end = words.operands.find_first_of("@+>");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
  return words.operands.substr(begin + 1, end - begin - 1);
}

/// The C library's functions that a GPU computes by more than one instruction. Names are those of double.
bool is_function(std::string_view name) {
  static const std::set<std::string_view> names{
      "acos", "acosh", "asin",      "asinh", "atan",   "atan2", "atanh", "cbrt",   "cos",   "cosh",  "erf",
      "erfc", "exp",   "exp10",     "exp2",  "expm1",  "fmod",  "hypot", "lgamma", "log",   "log10", "log1p",
      "log2", "pow",   "remainder", "sin",   "sincos", "sinh",  "tan",   "tanh",   "tgamma"};
  if (names.count(name) > 0) return true;
  return name.ends_with('f') && name != "erf" && names.count(name.substr(0, name.size() - 1)) > 0;
}

struct Suffix {
  std::string_view text;
  bool twice;
  unsigned elements;
};
constexpr Suffix kSuffixes[] = {{"ss", false, 1}, {"sd", true, 1}, {"ps", false, 4}, {"pd", true, 2}};

uint64_t* counted_by(std::string_view operation, Arithmetic& arithmetic) {
  if (operation == "add" || operation == "sub") return &arithmetic.additions;
  if (operation == "mul") return &arithmetic.products;
  if (operation == "div" || operation == "sqrt") return &arithmetic.divisions;
  if (operation.starts_with("fmadd") || operation.starts_with("fmsub") || operation.starts_with("fnmadd") ||
      operation.starts_with("fnmsub"))
    return &arithmetic.fused;
  return nullptr;
}

void note_arithmetic(const Words& words, Instruction& instruction) {
  std::string_view name = words.mnemonic;
  if (const std::string_view function = called(words); !function.empty()) {
    if (function == "fma") ++instruction.twice.fused;
    if (function == "fmaf") ++instruction.single.fused;
    instruction.is_function = is_function(function);
    return;
  }
  if (name.starts_with('v')) name.remove_prefix(1);
  for (const Suffix& suffix : kSuffixes) {
    if (!name.ends_with(suffix.text)) continue;
    const std::string_view operation = name.substr(0, name.size() - suffix.text.size());
    uint64_t* const count = counted_by(operation, suffix.twice ? instruction.twice : instruction.single);
    if (count == nullptr) return;
    const bool wide = words.operands.find("%ymm") != std::string_view::npos;
    *count += suffix.elements * (wide && suffix.elements > 1 ? 2 : 1);
  }
}

/// What the profile itself has added.
bool is_counting(std::string_view function) {
  return function.starts_with("__tsan_") || function.starts_with("__treadle_") || function == kCounter;
}

}  // namespace

StretchesOfCode stretches_of(const std::vector<std::string_view>& disassembly) {
  StretchesOfCode stretches;
  std::vector<Instruction>* stretch = nullptr;
  bool begins = false;
  for (const std::string_view line : disassembly) {
    Words words;
    if (!parse(line, words)) {
      if (line.ends_with(">:")) stretch = nullptr, begins = false;
      continue;
    }
    if (begins) {
      stretch = &stretches[words.address];
      begins = false;
    }
    const std::string_view function = called(words);
    if (is_counting(function)) {
      begins = function == kCounter;
      if (begins) stretch = nullptr;
      continue;
    }
    if (stretch == nullptr) continue;
    Instruction& instruction = stretch->emplace_back();
    instruction.address = words.address;
    note_arithmetic(words, instruction);
  }
  return stretches;
}

}  // namespace treadle::simt
