/// Cached and streaming accesses, background copies to shared memory, and copies to `__constant__` variables.
#pragma once

#include <cstring>

#include "treadle/simt/device_error.h"
#include "treadle/simt/executor_calls.h"

namespace treadle::simt {
class Stream;
void refuse_while_capturing(const char* what);  // graph.h
}  // namespace treadle::simt

namespace treadle::TREADLE_TARGET {

using stream_t = simt::Stream*;

// clang-format off
template <class T> T __ldg(const T* address) { return *address; }
template <class T> T __ldca(const T* address) { return *address; }
template <class T> T __ldcg(const T* address) { return *address; }
template <class T> T __ldcs(const T* address) { return *address; }
template <class T> void __stcg(T* address, T value) { *address = value; }
template <class T> void __stcs(T* address, T value) { *address = value; }
template <class T> void __stwt(T* address, T value) { *address = value; }
// clang-format on

/// Copies Bytes (4, 8 or 16) from global to shared memory in the background; part of the group that is open.
/// The executor copies as late as it may.
template <int Bytes>
void copy_async(void* shared, const void* global, Site site = Site::current()) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  begin_copy(shared, global, Bytes, Bytes, site);
}
/// Closes the group of copies that is open.
inline void copy_async_commit() { commit_copies(); }
/// Waits until at most Pending of this thread's groups are unfinished.
template <int Pending>
void copy_async_wait() {
  wait_for_copies(Pending);
}

/// Copies to a `__constant__` variable, in stream order. Throws DeviceError when the variable is smaller, and
/// while a graph is captured.
template <class Symbol>
void copy_to_constant(Symbol& symbol, const void* source, size_t bytes, stream_t) {
  simt::refuse_while_capturing("copies from the host");
  if (bytes > sizeof symbol) throw_device_error("copy_to_constant", "more bytes than the variable has");
  std::memcpy(&symbol, source, bytes);
}

}  // namespace treadle::TREADLE_TARGET
