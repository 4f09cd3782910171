/// The worst values of every parameter of formats/.
#include <limits>

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/formats/file.h"
#include "treadle/formats/image.h"
#include "treadle/formats/safetensors.h"

namespace treadle {
namespace {

constexpr int kMost = std::numeric_limits<int>::max(), kLeast = std::numeric_limits<int>::min();

Image grey(int width, int height, size_t pixels) { return {width, height, 1, std::vector<uint8_t>(pixels)}; }

TEST(WorstValues, Images) {
  const std::span<const std::byte> nothing;
  const Image one = grey(1, 1, 1), tall = grey(1, 1 << 20, 1 << 20);
  expect_refused({
      refused<FormatError>("no bytes", {"image data"}, [&] { parse_image(nothing); }),
      refused<ValueError>("no pixels allowed", {"0 pixels"}, [&] { parse_image(nothing, "x", 0); }),
      refused<ValueError>("negative pixels allowed", {"-1 pixels"}, [&] { parse_image(nothing, "x", -1); }),
      refused<ValueError>("resize to nothing", {"1 x 1", "0 x 1"}, [&] { resize_bilinear(one, 0, 1); }),
      refused<ValueError>("resize to less", {"1 x -1"}, [&] { resize_bilinear(one, 1, kLeast + kMost); }),
      refused<ValueError>("resize to most", {"allowed"}, [&] { resize_bilinear(one, kMost, kMost); }),
      refused<ValueError>("wide rows of many", {"1 x 1048576", "1048576 x 1"},
                          [&] { resize_bilinear(tall, 1 << 20, 1); }),
      refused<ValueError>("empty image", {"0 x 0"}, [] { resize_bilinear({}, 2, 2); }),
      refused<ValueError>("negative image", {"-1 x 1"}, [] { to_grey(grey(-1, 1, 1)); }),
      refused<ValueError>("short image", {"2 x 2", "3"}, [] { to_grey(grey(2, 2, 3)); }),
      refused<ValueError>("vast image", {"2147483647"}, [] { to_grey(grey(kMost, kMost, 1)); }),
      refused<ValueError>("channels", {"2"},
                          [] {
                            to_grey({1, 1, 2, {0, 0}});
                          }),
      refused<ValueError>("saved channels", {"4"},
                          [] {
                            save_png("/none/x.png", {1, 1, 4, {0, 0, 0, 0}});
                          }),
      refused<FileError>("no image", {"/none/x.png"}, [] { load_image("/none/x.png"); }),
      refused<FileError>("no folder", {"/none/"}, [&] { save_png("/none/x.png", one); }),
  });
}

TEST(WorstValues, TensorFiles) {
  const Tensor x = Tensor::from({1}, {1});
  using Entries = std::vector<SafetensorsEntry>;
  auto save = [](Entries entries) { return [entries] { save_safetensors("/none/x", entries); }; };
  expect_refused({
      refused<ValueError>("undefined", {"'a'", "undefined"}, save({{"a", {}}})),
      refused<ValueError>("twice", {"'a'"}, save({{"a", x}, {"a", x}})),
      refused<ValueError>("reserved", {"__metadata__"}, save({{"__metadata__", x}})),
      refused<ValueError>("not UTF-8", {"UTF-8"}, save({{"\xff", x}})),
      refused<FileError>("no folder", {"/none/"}, save({{"a", x}})),
      refused<FileError>("no file", {"/none/x"}, [] { load_safetensors("/none/x"); }),
      refused<FormatError>("no bytes", {"safetensors data"}, [] { parse_safetensors({}); }),
      refused<FileError>("a folder", {"/tmp"}, [] { read_file("/tmp"); }),
      refused<FileError>("no path", {}, [] { read_file(""); }),
      refused<FileError>("beyond the end", {"operands"},
                         [] {
                           std::byte byte[1];
                           FileReader("tests/graph/operands_test.cpp").read_at(uint64_t(-1), byte);
                         }),
  });
}

}  // namespace
}  // namespace treadle
