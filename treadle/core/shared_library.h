/// SharedLibrary: a library that is opened at run time, so that the program starts without it.
#pragma once

#include <string>
#include <vector>

#include "treadle/core/export.h"

namespace treadle {

/// An opened library, or the reason why there is none. It stays open until the process ends.
class TREADLE_API SharedLibrary {
 public:
  /// Opens the first of `names` (such as "libcublas.so.13") that is found: in the folders of
  /// $TREADLE_LIBRARY_PATH, then where the system looks, then in `folders`. In each folder given, its lib,
  /// lib64 and */lib are searched too, so that it may be a CUDA toolkit or the `nvidia` folder of a PyTorch
  /// installation.
  static SharedLibrary open(const std::vector<std::string>& names, const std::vector<std::string>& folders);

  bool is_open() const { return handle_ != nullptr; }
  /// Empty when it is open, else one sentence: what was not found, or could not be opened and why.
  const std::string& absence() const { return absence_; }
  /// Looks a function up; a missing one closes the door: is_open() turns false and absence() names it.
  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(address_of(name));
  }

 private:
  bool try_open(const std::string& path);
  void* address_of(const char* name);

  void* handle_ = nullptr;
  std::string absence_;
};

}  // namespace treadle
