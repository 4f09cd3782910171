/// A block's dynamic shared memory, and a guard behind it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "treadle/simt/target.h"

namespace treadle::TREADLE_TARGET {

/// Gives the calling thread's dynamic shared memory where it is not the executor's to allocate: programs have
/// an area of their own, of kLargestShared bytes.
extern std::atomic<void* (*)()> own_dynamic_shared;

inline constexpr size_t kLargestShared = 227 * 1024;

class BlockSharedMemory {
 public:
  /// Makes room for `bytes`, 0 included. Throws DeviceError when memory is out.
  void* prepare(size_t bytes);
  /// Fills what a block finds: 0xFF, NaN in every floating type.
  void fill();
  /// The bytes behind the end that were written lie so far behind it: the least; -1 when none was. Mends
  /// them.
  ptrdiff_t check_guard();

 private:
  struct FreeMemory {
    void operator()(unsigned char* memory) const;
  };

  void write_guard();

  std::unique_ptr<unsigned char, FreeMemory> own_;
  size_t capacity_ = 0;
  unsigned char* memory_ = nullptr;
  size_t bytes_ = 0, guard_ = 0;
};

}  // namespace treadle::TREADLE_TARGET
