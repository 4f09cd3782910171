#include "treadle/simt/profile/runtime/touched_sectors.h"

namespace treadle::profiler {
namespace {

constexpr uint64_t kSectors = std::tuple_size_v<decltype(TouchedSectors::Page::read_by)>;

void set(std::array<uint64_t, 32>& bits, uint64_t i) { bits[i / 64] |= uint64_t{1} << i % 64; }

}  // namespace

TouchedSectors::Page& TouchedSectors::page_of(uint64_t sector) {
  const uint64_t number = sector / kSectors;
  if (last_ != nullptr && number == last_number_) return *last_;
  std::unique_ptr<Page>& page = pages_[number];
  if (page == nullptr) page = std::make_unique<Page>();
  last_number_ = number;
  last_ = page.get();
  return *last_;
}

bool TouchedSectors::read(uint64_t sector) {
  Page& page = page_of(sector);
  uint32_t& reader = page.read_by[sector % kSectors];
  if (reader == block_) return false;
  reader = block_;
  set(page.read, sector % kSectors);
  return true;
}

void TouchedSectors::write(uint64_t sector) { set(page_of(sector).written, sector % kSectors); }

}  // namespace treadle::profiler
