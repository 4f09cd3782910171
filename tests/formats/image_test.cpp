#include "treadle/formats/image.h"

#include <cstdio>
// jpeglib.h needs FILE to be declared.
#include <jpeglib.h>
#include <png.h>

#include <cstdlib>

#include "tests/formats/temporary_folder.h"
#include "treadle/core/error.h"

namespace treadle {
namespace {

using Pixels = std::vector<uint8_t>;

/// Every pixel and channel different from its neighbours.
Image gradient(int width, int height, int channels) {
  Image image{width, height, channels, {}};
  for (int i = 0; i < width * height * channels; ++i) image.pixels.push_back(uint8_t(i * 7 + i / 256));
  return image;
}

/// Smooth, so that JPEG keeps it well.
Image ramp(int width, int height, int channels) {
  Image image{width, height, channels, {}};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) image.pixels.push_back(uint8_t(40 + 2 * x + 3 * y + 10 * c));
  return image;
}

std::string jpeg_bytes(const Image& image, J_COLOR_SPACE space, bool progressive = false) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &memory, &size);
  jpeg.image_width = JDIMENSION(image.width);
  jpeg.image_height = JDIMENSION(image.height);
  jpeg.input_components = image.channels;
  jpeg.in_color_space = space;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 100, TRUE);
  if (progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* row =
        const_cast<JSAMPROW>(image.pixels.data() + size_t(jpeg.next_scanline) * image.width * image.channels);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string bytes(reinterpret_cast<char*>(memory), size);
  jpeg_destroy_compress(&jpeg);
  std::free(memory);
  return bytes;
}

/// A PNG of any kind libpng writes: depth and colour type as in its header, rows packed as libpng takes them.
std::string png_bytes(int width, int height, int depth, int color, const Pixels& rows) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  std::string bytes;
  png_set_write_fn(
      png, &bytes,
      [](png_structp p, png_bytep data, size_t n) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<char*>(data), n);
      },
      nullptr);
  png_set_IHDR(png, info, png_uint_32(width), png_uint_32(height), depth, color, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  const png_color palette[] = {{1, 2, 3}, {200, 100, 50}};
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 2);
  png_write_info(png, info);
  size_t stride = rows.size() / size_t(height);
  for (int y = 0; y < height; ++y) png_write_row(png, rows.data() + size_t(y) * stride);
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

Image parse(const std::string& bytes, int64_t max_pixels = kMaxImagePixels) {
  return parse_image(bytes_of(bytes), "x.img", max_pixels);
}

int largest_difference(const Image& a, const Image& b) {
  EXPECT_EQ(a.pixels.size(), b.pixels.size());
  int largest = 0;
  for (size_t i = 0; i < a.pixels.size(); ++i)
    largest = std::max(largest, std::abs(a.pixels[i] - b.pixels[i]));
  return largest;
}

TEST(Image, PngRoundTripIsExact) {
  TemporaryFolder folder;
  for (int channels : {1, 3}) {
    Image image = gradient(13, 7, channels);
    save_png(folder / "a.png", image);
    Image loaded = load_image(folder / "a.png");
    EXPECT_EQ(loaded.width, 13);
    EXPECT_EQ(loaded.height, 7);
    EXPECT_EQ(loaded.channels, channels);
    EXPECT_EQ(loaded.pixels, image.pixels);
  }
}

TEST(Image, PngOfOtherKinds) {
  EXPECT_EQ(parse(png_bytes(2, 1, 16, PNG_COLOR_TYPE_GRAY, {0x80, 0x80, 0xff, 0xff})).pixels,
            (Pixels{128, 255}));
  EXPECT_EQ(parse(png_bytes(2, 1, 8, PNG_COLOR_TYPE_PALETTE, {1, 0})).pixels,
            (Pixels{200, 100, 50, 1, 2, 3}));
  EXPECT_EQ(parse(png_bytes(8, 1, 1, PNG_COLOR_TYPE_GRAY, {0xa0})).pixels,
            (Pixels{255, 0, 255, 0, 0, 0, 0, 0}));
  Image blended = parse(png_bytes(2, 1, 8, PNG_COLOR_TYPE_RGB_ALPHA, {9, 8, 7, 255, 9, 8, 7, 0}));
  EXPECT_EQ(blended.channels, 3);
  EXPECT_EQ(blended.pixels, (Pixels{9, 8, 7, 255, 255, 255}));
  EXPECT_EQ(parse(png_bytes(2, 1, 8, PNG_COLOR_TYPE_GRAY_ALPHA, {9, 255, 9, 0})).pixels, (Pixels{9, 255}));
}

TEST(Image, JpegIsCloseToWhatWasWritten) {
  // Quality 100 divides by 1: the rounding of 64 coefficients and of the colour conversion leaves a few
  // steps.
  for (bool progressive : {false, true}) {
    Image grey = ramp(16, 16, 1), colour = ramp(16, 16, 3);
    Image read_grey = parse(jpeg_bytes(grey, JCS_GRAYSCALE, progressive));
    EXPECT_EQ(read_grey.channels, 1);
    EXPECT_LE(largest_difference(read_grey, grey), 2);
    Image read_colour = parse(jpeg_bytes(colour, JCS_RGB, progressive));
    EXPECT_EQ(read_colour.channels, 3);
    EXPECT_LE(largest_difference(read_colour, colour), 4);
  }
}

TEST(Image, RefusesOtherFormats) {
  TemporaryFolder folder;
  write_bytes(folder / "a.gif", "GIF89a");
  expect_error<FormatError>([&] { load_image(folder / "a.gif"); }, {"a.gif", "neither PNG nor JPEG"});
  expect_error<FormatError>([] { parse(""); }, {"neither PNG nor JPEG"});
  expect_error<FileError>([&] { load_image(folder / "absent.png"); }, {"absent.png", "No such file"});
  std::string two = jpeg_bytes(ramp(8, 8, 2), JCS_UNKNOWN);
  expect_error<FormatError>([&] { parse(two); }, {"x.img", "2 components", "convert"});
}

TEST(Image, RefusesFilesCutAnywhere) {
  std::string png = png_bytes(13, 7, 8, PNG_COLOR_TYPE_GRAY, gradient(13, 7, 1).pixels);
  // The last chunk, IEND, has 12 bytes and carries nothing: a decoder may stop before it.
  for (size_t length = 8; length < png.size() - 12; ++length)
    EXPECT_THROW(parse(png.substr(0, length)), FormatError)
        << "PNG cut to " << length << " of " << png.size();
  std::string jpeg = jpeg_bytes(gradient(24, 24, 3), JCS_RGB);
  for (const std::string& whole : {jpeg, jpeg_bytes(gradient(24, 24, 3), JCS_RGB, true)})
    for (size_t length = 3; length < whole.size() - 2; ++length)
      EXPECT_THROW(parse(whole.substr(0, length)), FormatError)
          << "JPEG cut to " << length << " of " << whole.size();
  // The middle is missing, the end-of-image marker is there.
  EXPECT_THROW(parse(jpeg.substr(0, jpeg.size() - 200) + "\xff\xd9"), FormatError);
  expect_error<FormatError>([&] { parse(png.substr(0, 60)); }, {"x.img", "PNG", "cut short"});
  expect_error<FormatError>([&] { parse(jpeg.substr(0, 400)); }, {"x.img", "JPEG", "cut short"});
}

TEST(Image, RefusesDamagedPng) {
  std::string png = png_bytes(13, 7, 8, PNG_COLOR_TYPE_GRAY, gradient(13, 7, 1).pixels);
  for (size_t position : {size_t(17), size_t(29), size_t(45)}) {
    std::string damaged = png;
    damaged[position] ^= 0x40;
    EXPECT_THROW(parse(damaged), FormatError) << position;
  }
}

TEST(Image, RefusesTooManyPixels) {
  std::string png = png_bytes(13, 7, 8, PNG_COLOR_TYPE_GRAY, gradient(13, 7, 1).pixels);
  EXPECT_NO_THROW(parse(png, 91));
  expect_error<FormatError>([&] { parse(png, 90); }, {"13 x 7", "1 to 90"});
  std::string jpeg = jpeg_bytes(ramp(16, 16, 1), JCS_GRAYSCALE);
  expect_error<FormatError>([&] { parse(jpeg, 255); }, {"16 x 16", "1 to 255"});
  // The height of a baseline JPEG follows FF C0, the length and the depth.
  size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  for (size_t i = 5; i < 9; ++i) jpeg[frame + i] = '\xff';
  EXPECT_THROW(parse(jpeg), FormatError);
}

TEST(Image, RefusesToWriteInconsistentImages) {
  TemporaryFolder folder;
  expect_error<ValueError>([&] { save_png(folder / "a", {0, 1, 1, {}}); }, {"0 x 1"});
  expect_error<ValueError>([&] { save_png(folder / "a", {1, 1, 2, {1, 2}}); }, {"not 2"});
  expect_error<ValueError>([&] { save_png(folder / "a", {2, 2, 1, {1, 2}}); }, {"4 values, not 2"});
  EXPECT_EQ(folder.count(), 0u);
}

TEST(Image, GreyHasTheWeightsOfBt601) {
  Image image{5, 1, 3, {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 10, 20, 30}};
  // 76.245, 149.685, 29.07, 255, 18.15
  EXPECT_EQ(to_grey(image).pixels, (Pixels{76, 150, 29, 255, 18}));
  Image grey = gradient(3, 3, 1);
  EXPECT_EQ(to_grey(grey).pixels, grey.pixels);
}

TEST(Image, ResizeToTheSameSizeChangesNothing) {
  Image image = gradient(9, 5, 3);
  EXPECT_EQ(resize_bilinear(image, 9, 5).pixels, image.pixels);
}

TEST(Image, ResizeKeepsAConstant) {
  Image image{50, 31, 3, Pixels(50 * 31 * 3, 201)};
  for (auto [width, height] : {std::pair(28, 28), std::pair(1, 1), std::pair(77, 90)})
    EXPECT_EQ(resize_bilinear(image, width, height).pixels, Pixels(size_t(width * height * 3), 201));
}

TEST(Image, EnlargingInterpolatesBetweenPixelCentres) {
  // Output centres in input pixels: -0.25, 0.25, 0.75, 1.25.
  EXPECT_EQ(resize_bilinear({2, 1, 1, {0, 100}}, 4, 1).pixels, (Pixels{0, 25, 75, 100}));
  EXPECT_EQ(resize_bilinear({1, 2, 1, {0, 100}}, 1, 4).pixels, (Pixels{0, 25, 75, 100}));
}

TEST(Image, ShrinkingWeighsEveryPixel) {
  // Factor 2, triangle of reach 2 at 1: weights 3/4, 3/4, 1/4 (the left quarter is outside), sum 7/4.
  EXPECT_EQ(resize_bilinear({4, 1, 1, {70, 0, 0, 0}}, 2, 1).pixels, (Pixels{30, 0}));
  EXPECT_EQ(resize_bilinear({4, 1, 1, {0, 0, 70, 0}}, 2, 1).pixels, (Pixels{10, 30}));
  // To one pixel: reach 4 at 2, weights 5/8, 7/8, 7/8, 5/8, sum 3.
  EXPECT_EQ(resize_bilinear({4, 1, 1, {240, 0, 0, 0}}, 1, 1).pixels, (Pixels{50}));
}

TEST(Image, ResizeTreatsChannelsApart) {
  Image image{2, 1, 3, {0, 100, 7, 100, 0, 7}};
  EXPECT_EQ(resize_bilinear(image, 4, 1).pixels, (Pixels{0, 100, 7, 25, 75, 7, 75, 25, 7, 100, 0, 7}));
}

TEST(Image, ResizeRefusesImpossibleSizes) {
  Image image = gradient(3, 3, 1);
  expect_error<ValueError>([&] { resize_bilinear(image, 0, 5); }, {"0 x 5"});
  expect_error<ValueError>([&] { resize_bilinear(image, 1 << 20, 1 << 20); }, {"1048576 x 1048576"});
  EXPECT_THROW(resize_bilinear({}, 2, 2), ValueError);
}

}  // namespace
}  // namespace treadle
