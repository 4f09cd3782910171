/// The program's `__shared__` variables: where they lie among the thread-local variables, and their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace treadle::checker {

struct SharedVariable {
  size_t offset;  ///< within the program's thread-local storage
  size_t bytes;
  std::string name;  ///< "tile" or "kernel<float>::tile"
};

class SharedVariables {
 public:
  /// The running program's, read from its file once. Empty where it has no table of symbols.
  static const SharedVariables& of_program();

  /// The calling thread's copy of the program's thread-local storage.
  uintptr_t begin_here() const;
  size_t bytes() const { return bytes_; }
  /// threadIdx and its kin.
  size_t built_ins_begin() const { return built_ins_begin_; }
  size_t built_ins_bytes() const { return built_ins_bytes_; }

  const std::vector<SharedVariable>& variables() const { return variables_; }
  /// Whether the compiler's own note of a variable lies there: it keeps one for each array of a class that
  /// has constructors, though nothing is to be constructed.
  bool is_guard(size_t offset) const;
  /// The last one that begins at or before the offset; null where there is none.
  const SharedVariable* before(size_t offset) const;

 private:
  SharedVariables();
  void read_symbols();

  size_t bytes_ = 0;
  ptrdiff_t from_thread_pointer_ = 0;
  size_t built_ins_begin_ = 0, built_ins_bytes_ = 0;
  std::vector<SharedVariable> variables_;          ///< sorted by offset
  std::vector<std::pair<size_t, size_t>> guards_;  ///< begin and end, sorted
};

/// The first byte of the running program.
uintptr_t program_begin();
/// How far its last byte lies behind.
size_t program_bytes();
/// Whether an address is one of its variables, constants or instructions.
bool in_program(uintptr_t address);
bool is_code(uintptr_t address);
/// What the program may write: its variables.
uintptr_t variables_begin();
uintptr_t variables_end();

}  // namespace treadle::checker
