#include "treadle/simt/toolkit/copies.h"

#include <cstring>
#include <optional>

#include "treadle/simt/memory.h"
#include "treadle/simt/toolkit/allocations.h"

extern "C" char __executable_start[], _end[];  // of the program's image: the linker's

namespace treadle::TREADLE_TARGET::toolkit {
namespace {

/// `__device__` variables lie in the program's image, among the host's own.
bool in_image(const void* address) { return address >= __executable_start && address < _end; }

size_t extent_of(Rows rows, Region region) {
  return (region.depth - 1) * rows.slice + (region.height - 1) * rows.pitch + region.width;
}

/// What the runtime knows of an address.
enum class Side : uint8_t { host, device, both };

Side side_of(const std::optional<Allocation>& allocation, const void* address) {
  if (!allocation) return in_image(address) ? Side::both : Side::host;
  return allocation->kind == MemoryKind::device ? Side::device : Side::both;
}

/// `wanted` is host or device, or both where the kind of copy does not say.
cudaError_t check_side(const Call& call, Rows rows, Region region, Side wanted, bool is_target) {
  if (rows.begin == nullptr) return refuse(call, cudaErrorInvalidValue, "a null pointer");
  const auto allocation = find_allocation(rows.begin);
  const Side side = side_of(allocation, rows.begin);
  if (wanted == Side::device && side == Side::host)
    return refuse(call, cudaErrorInvalidValue,
                  is_target ? "the target is host memory, and the copy is to the device"
                            : "the source is host memory, and the copy is from the device");
  if (wanted == Side::host && side == Side::device)
    return refuse(call, cudaErrorInvalidValue,
                  is_target ? "the target is device memory, and the copy is to the host"
                            : "the source is device memory, and the copy is from the host");
  if (!allocation) return cudaSuccess;
  const size_t offset =
      static_cast<size_t>(static_cast<char*>(rows.begin) - static_cast<char*>(allocation->begin));
  if (extent_of(rows, region) > allocation->bytes - offset)
    return refuse(
        call, cudaErrorInvalidValue,
        is_target ? "the copy goes past the end of its target" : "the copy goes past the end of its source");
  return cudaSuccess;
}

template <class Row>
void for_each_row(Region region, Row row) {
  for (size_t z = 0; z < region.depth; ++z)
    for (size_t y = 0; y < region.height; ++y) row(y, z);
}

char* row_of(Rows rows, size_t y, size_t z) {
  return static_cast<char*>(rows.begin) + z * rows.slice + y * rows.pitch;
}

}  // namespace

cudaError_t check_copy(const Call& call, Rows target, Rows source, Region region, cudaMemcpyKind kind) {
  if (static_cast<unsigned>(kind) > cudaMemcpyDefault)
    return refuse(call, cudaErrorInvalidMemcpyDirection, "no such kind of copy");
  if (region.empty()) return cudaSuccess;
  if (region.height > 1 && (target.pitch < region.width || source.pitch < region.width))
    return refuse(call, cudaErrorInvalidPitchValue, "rows are longer than the pitch");
  const auto side = [&](cudaMemcpyKind one, cudaMemcpyKind other) {
    return kind == cudaMemcpyDefault ? Side::both : kind == one || kind == other ? Side::device : Side::host;
  };
  const cudaError_t error =
      check_side(call, target, region, side(cudaMemcpyHostToDevice, cudaMemcpyDeviceToDevice), true);
  if (error != cudaSuccess) return error;
  return check_side(call, source, region, side(cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice), false);
}

void copy(Rows target, Rows source, Region region) {
  for_each_row(region, [&](size_t y, size_t z) {
    char *to = row_of(target, y, z), *from = row_of(source, y, z);
    std::memmove(to, from, region.width);
    simt::note_written(to, region.width);
  });
}

cudaError_t check_fill(const Call& call, Rows target, Region region) {
  if (region.empty()) return cudaSuccess;
  if (region.height > 1 && target.pitch < region.width)
    return refuse(call, cudaErrorInvalidPitchValue, "rows are longer than the pitch");
  return check_side(call, target, region, Side::device, true);
}

void fill(Rows target, int value, Region region) {
  for_each_row(region, [&](size_t y, size_t z) {
    char* to = row_of(target, y, z);
    std::memset(to, value, region.width);
    simt::note_written(to, region.width);
  });
}

}  // namespace treadle::TREADLE_TARGET::toolkit
