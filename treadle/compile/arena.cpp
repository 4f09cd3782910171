#include "treadle/compile/arena.h"

#include <algorithm>

namespace treadle {
namespace {

bool lies_in_arena(const ProgramBuffer& buffer) {
  return buffer.kind == ProgramBuffer::Kind::result && buffer.first >= 0;
}

bool is_lower(const ProgramBuffer* a, const ProgramBuffer* b) { return a->offset < b->offset; }

}  // namespace

size_t lowest_place(const std::vector<const ProgramBuffer*>& placed, int first, int last, size_t bytes) {
  size_t offset = 0;
  for (const ProgramBuffer* other : placed) {
    if (other->last < first || last < other->first) continue;
    if (offset + arena_aligned(bytes) <= other->offset) break;
    offset = std::max(offset, other->offset + arena_aligned(other->bytes));
  }
  return offset;
}

std::vector<const ProgramBuffer*> placed_buffers(const std::vector<ProgramBuffer>& buffers) {
  std::vector<const ProgramBuffer*> placed;
  for (const ProgramBuffer& buffer : buffers)
    if (lies_in_arena(buffer)) placed.push_back(&buffer);
  std::sort(placed.begin(), placed.end(), is_lower);
  return placed;
}

size_t plan_arena(std::vector<ProgramBuffer>& buffers) {
  std::vector<ProgramBuffer*> order;
  for (ProgramBuffer& buffer : buffers)
    if (lies_in_arena(buffer)) order.push_back(&buffer);
  std::stable_sort(order.begin(), order.end(),
                   [](const ProgramBuffer* a, const ProgramBuffer* b) { return a->bytes > b->bytes; });
  std::vector<const ProgramBuffer*> placed;
  size_t size = 0;
  for (ProgramBuffer* buffer : order) {
    buffer->offset = lowest_place(placed, buffer->first, buffer->last, buffer->bytes);
    size = std::max(size, buffer->offset + arena_aligned(buffer->bytes));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), buffer, is_lower), buffer);
  }
  return size;
}

}  // namespace treadle
