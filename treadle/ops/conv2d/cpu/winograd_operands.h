/// What Winograd's convolutions of 3×3 filters read, and how their transforms lie in memory.
#pragma once

#include <algorithm>
#include <cstdint>

namespace treadle::cpu {

/// Filters are worked on in blocks of so many.
inline constexpr int64_t kWinogradFilters = 32;

/// The images: element (n, c, h, w) is x[n·image_step + c + h·row_step + w·column_step]. They are cut into
/// tiles, which are numbered through all of them.
struct WinogradImages {
  const float* x;
  int64_t channels, height, width;
  int64_t image_step, row_step, column_step;
  int64_t top, left;      ///< padding of the convolution
  int64_t rows, columns;  ///< tiles of one image
  const float* zeros;     ///< one for each channel
};

/// Tile number `tile` of some images: in which one it is, its row and its column there.
struct TilePlace {
  int64_t image, row, column;

  TilePlace(const WinogradImages& images, int64_t tile)
      : image(tile / (images.rows * images.columns)),
        row(tile / images.columns % images.rows),
        column(tile % images.columns) {}
  /// Goes on to the next one, without a division.
  void advance(const WinogradImages& images) {
    if (++column < images.columns) return;
    column = 0;
    if (++row < images.rows) return;
    row = 0;
    ++image;
  }
};

/// The filters: tap (k, c, r, s) is w[k·filter_step + c·channel_step + r·row_step + s·column_step], or, where
/// they are turned by 180°, the tap (k, c, 2 - r, 2 - s).
struct WinogradFilters {
  const float* w;
  int64_t filters, channels;
  int64_t filter_step, channel_step, row_step, column_step;
  bool turned = false;

  int64_t blocks() const { return (filters + kWinogradFilters - 1) / kWinogradFilters; }
};

inline constexpr int64_t kLineFloats = 16;  ///< of a cache line

constexpr int64_t padded_channels(int64_t channels) {
  return (channels + kLineFloats - 1) / kLineFloats * kLineFloats;
}

/// Where some transformed tiles lie, or their products with a block of filters: in groups, whose products
/// stores reach through few pages, [group][product][tile of the group][channel], with a line more behind each
/// product, which keeps them from sharing cache sets. Groups are as even as can be, of so many tiles at most
/// as a register tile has rows.
struct TileGroups {
  static constexpr int64_t kMost = 12;
  int64_t products, channels, tiles, group;

  constexpr TileGroups(int64_t products, int64_t channels, int64_t tiles)
      : products(products),
        channels(padded_channels(channels)),
        tiles(tiles),
        group(divide_up(tiles, divide_up(tiles, kMost))) {}

  /// From one product to the next.
  constexpr int64_t step() const { return group * channels + kLineFloats; }
  constexpr int64_t group_size() const { return products * step(); }
  constexpr int64_t size() const { return divide_up(tiles, group) * group_size(); }
  /// Product 0 of a tile.
  constexpr int64_t offset(int64_t tile) const {
    return tile / group * group_size() + tile % group * channels;
  }

 private:
  static constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
};

/// From one product of a transformed filter block to the next.
constexpr int64_t filter_product_step(int64_t channels) { return channels * kWinogradFilters + kLineFloats; }

/// Floats of one block of transformed filters, bias included.
constexpr int64_t filter_block_size(int64_t products, int64_t channels) {
  return products * filter_product_step(channels) + kWinogradFilters;
}

/// Tiles that are worked on together: as many groups as keep so many bytes of a transformed image in the
/// second-level cache.
constexpr int64_t tiles_at_once(int64_t products, int64_t channels, int64_t image_bytes, int64_t most) {
  const int64_t fit = image_bytes / (products * padded_channels(channels) * int64_t(sizeof(float)));
  return std::clamp(fit / TileGroups::kMost * TileGroups::kMost, TileGroups::kMost, most);
}

}  // namespace treadle::cpu
