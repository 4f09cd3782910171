/// Copies in the background as cooperative groups, cuda::pipeline and __pipeline_memcpy_async have them, made
/// of the executor's background copies.
#pragma once

#include "treadle/simt/cooperative_groups.h"

namespace treadle::TREADLE_TARGET {
namespace toolkit {

/// The share of the thread with this rank in a copy by `threads` threads: pieces as large as both addresses
/// and the size allow. What is not a multiple of 4 bytes is copied at once.
inline void copy_share(void* target, const void* source, size_t bytes, size_t rank, size_t threads,
                       Site site) {
  auto* to = static_cast<char*>(target);
  const auto* from = static_cast<const char*>(source);
  const size_t common = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | bytes;
  const unsigned unit = common % 16 == 0 ? 16 : common % 8 == 0 ? 8 : common % 4 == 0 ? 4 : 1;
  for (size_t i = rank * unit; i < bytes; i += threads * unit) {
    if (unit == 1)
      to[i] = from[i];
    else
      begin_copy(to + i, from + i, unit, unit, site);
  }
}

}  // namespace toolkit

namespace cooperative_groups {

/// The group's threads share the copy of `bytes` bytes, which wait(group) waits for.
template <class Group, class T, class U>
void memcpy_async(const Group& group, T* target, const U* source, size_t bytes, Site site = Site::current()) {
  toolkit::copy_share(target, source, bytes, group.thread_rank(), group.size(), site);
  commit_copies();
}
/// The same with numbers of elements that both have.
template <class Group, class T>
void memcpy_async(const Group& group, T* target, size_t target_elements, const T* source,
                  size_t source_elements, Site site = Site::current()) {
  memcpy_async(group, target, source, min(target_elements, source_elements) * sizeof(T), site);
}

template <class Group>
void wait(const Group& group, Site site = Site::current()) {
  wait_for_copies(0);
  group.sync(site);
}
/// Waits until at most Pending of the last copies are unfinished.
template <unsigned Pending, class Group>
void wait_prior(const Group& group, Site site = Site::current()) {
  wait_for_copies(Pending);
  group.sync(site);
}

}  // namespace cooperative_groups

inline namespace cuda_names {

/// Copies 4, 8 or 16 bytes, of which the last `zeros` are zeros.
inline void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes, size_t zeros = 0,
                                    Site site = Site::current()) {
  begin_copy(shared, global, static_cast<unsigned>(bytes), static_cast<unsigned>(bytes - zeros), site);
}
inline void __pipeline_commit() { commit_copies(); }
inline void __pipeline_wait_prior(size_t pending) { wait_for_copies(static_cast<unsigned>(pending)); }

}  // namespace cuda_names
}  // namespace treadle::TREADLE_TARGET
