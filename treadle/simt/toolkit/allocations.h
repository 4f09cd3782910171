/// What the host interface has allocated, by address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>

#include "treadle/simt/target.h"
#include "treadle/simt/toolkit/runtime_state.h"

namespace treadle::TREADLE_TARGET::toolkit {

/// `registered` is the program's own memory, made known by cudaHostRegister.
enum class MemoryKind : uint8_t { device, managed, pinned, registered };

struct Allocation {
  void* begin;
  size_t bytes;
  MemoryKind kind;
  unsigned flags;
};

/// Bytes of the device's memory: 80 GiB as an H100's, or half of the machine's where that is less.
size_t device_memory_bytes();
size_t allocated_bytes();

/// Null, and cudaErrorMemoryAllocation by the caller, where the device has not so much.
/// `site` is for the checker's reports.
void* allocate(size_t bytes, MemoryKind kind, unsigned flags, std::source_location site);
/// Whether there was such an allocation of one of the two kinds.
bool free_allocation(const Call& call, void* memory, MemoryKind kind, MemoryKind or_kind);
void free_all(const Call& call);

/// False where it overlaps with what is known already.
bool register_memory(void* memory, size_t bytes, unsigned flags);
bool unregister_memory(void* memory);

/// The allocation that the address lies in.
std::optional<Allocation> find_allocation(const void* address);

}  // namespace treadle::TREADLE_TARGET::toolkit
