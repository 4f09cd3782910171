/// Large pages for large blocks of memory: tensors are read and written from end to end, and of small pages
/// (4 KiB) a processor finds fewer at once than a network's activations lie on.
#pragma once

#include <cstddef>

namespace treadle {

/// Asks the system for large pages where they fit into this memory, which nothing has touched yet. Only a
/// hint.
void prefer_large_pages(void* memory, size_t bytes);

/// Memory for std::free(), aligned to 64 bytes or more; null where there is none. Large blocks begin at a
/// large page and prefer_large_pages().
void* allocate_aligned(size_t bytes);

}  // namespace treadle
