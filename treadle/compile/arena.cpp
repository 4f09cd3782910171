#include <algorithm>
#include <numeric>

#include "treadle/compile/program.h"

namespace treadle {
namespace {

constexpr size_t kAlignment = 64;

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool overlap_in_time(const ProgramBuffer& a, const ProgramBuffer& b) {
  return a.first <= b.last && b.first <= a.last;
}

/// The lowest offset at which `buffer` lies over none of the `placed` that are alive with it.
size_t lowest_place(const ProgramBuffer& buffer, const std::vector<const ProgramBuffer*>& placed) {
  size_t offset = 0;
  for (const ProgramBuffer* other : placed) {  // by rising offset
    if (!overlap_in_time(buffer, *other)) continue;
    if (offset + aligned(buffer.bytes) <= other->offset) break;
    offset = std::max(offset, other->offset + aligned(other->bytes));
  }
  return offset;
}

}  // namespace

size_t plan_arena(std::vector<ProgramBuffer>& buffers) {
  std::vector<ProgramBuffer*> order;
  for (ProgramBuffer& buffer : buffers)
    if (buffer.kind == ProgramBuffer::Kind::arena && buffer.first >= 0) order.push_back(&buffer);
  std::stable_sort(order.begin(), order.end(),
                   [](const ProgramBuffer* a, const ProgramBuffer* b) { return a->bytes > b->bytes; });
  std::vector<const ProgramBuffer*> placed;
  size_t size = 0;
  for (ProgramBuffer* buffer : order) {
    buffer->offset = lowest_place(*buffer, placed);
    size = std::max(size, buffer->offset + aligned(buffer->bytes));
    auto after =
        std::upper_bound(placed.begin(), placed.end(), buffer->offset,
                         [](size_t offset, const ProgramBuffer* other) { return offset < other->offset; });
    placed.insert(after, buffer);
  }
  return size;
}

}  // namespace treadle
