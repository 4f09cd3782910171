/// Which sectors of global memory were touched: what a cache that forgets nothing must load, once for each
/// block and once for each launch.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace treadle::profiler {

/// Of the blocks that one OS thread runs.
class TouchedSectors {
 public:
  void begin_block() { ++block_; }
  void begin_launch() { pages_.clear(), last_ = nullptr; }

  /// Whether the block reads the sector for the first time.
  bool read(uint64_t sector);
  void write(uint64_t sector);

  struct Page {
    std::array<uint32_t, 2048> read_by{};  ///< the last block that read each sector
    std::array<uint64_t, 32> read{}, written{};
  };
  /// By number: sector / 2048.
  using Pages = std::unordered_map<uint64_t, std::unique_ptr<Page>>;
  const Pages& pages() const { return pages_; }

 private:
  Page& page_of(uint64_t sector);

  Pages pages_;
  uint64_t last_number_ = 0;
  Page* last_ = nullptr;
  uint32_t block_ = 0;
};

}  // namespace treadle::profiler
