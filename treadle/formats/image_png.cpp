#include <png.h>

#include <csetjmp>
#include <cstring>

#include "treadle/core/error.h"
#include "treadle/formats/image_codecs.h"
#include "treadle/formats/image_orientation.h"

namespace treadle {
namespace {

/// What chunks of text may take, each and how many: some may claim gigabytes.
constexpr png_alloc_size_t kMostTextBytes = 4 << 20;
constexpr png_uint_32 kMostTextChunks = 32;

/// The file up to the first chunk that claims more than is left: libpng takes memory for what a chunk claims
/// before it reads it. Chunks of the picture it reads in pieces, up to where they are cut.
std::span<const std::byte> without_cut_chunk(std::span<const std::byte> file) {
  constexpr size_t kSignature = 8, kLengthAndType = 8, kChecksum = 4;
  for (size_t begin = kSignature; file.size() - begin >= kLengthAndType;) {
    const auto* chunk = reinterpret_cast<png_const_bytep>(file.data() + begin);
    const size_t claimed = kLengthAndType + png_get_uint_32(chunk) + kChecksum;
    if (claimed > file.size() - begin)
      return std::memcmp(chunk + 4, "IDAT", 4) == 0 ? file : file.first(begin);
    begin += claimed;
  }
  return file;
}

/// libpng's reader of one image. Its errors jump to `escape`, set by attempt(); the message then tells the
/// cause.
struct PngReader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::span<const std::byte> rest;
  std::jmp_buf escape;
  char message[128] = "there is no memory";

  explicit PngReader(std::span<const std::byte> bytes);
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  /// Calls libpng; false when it failed. `step` must own nothing: a failure jumps out of it without
  /// unwinding.
  template <class Step>
  bool attempt(Step step) {
    if (setjmp(escape)) return false;
    step();
    return true;
  }
};

[[noreturn]] void escape_with_message(png_structp png, png_const_charp message) {
  auto& reader = *static_cast<PngReader*>(png_get_error_ptr(png));
  std::strncpy(reader.message, message, sizeof reader.message - 1);
  std::longjmp(reader.escape, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

void read_bytes_for(png_structp png, png_bytep target, size_t count) {
  auto& reader = *static_cast<PngReader*>(png_get_io_ptr(png));
  if (count > reader.rest.size()) png_error(png, "the file ends too early");
  std::memcpy(target, reader.rest.data(), count);
  reader.rest = reader.rest.subspan(count);
}

PngReader::PngReader(std::span<const std::byte> bytes) : rest(without_cut_chunk(bytes)) {
  bool made = attempt([this] {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, escape_with_message, ignore_warning);
    if (png) info = png_create_info_struct(png);
  });
  require<FormatError>(made && info, "the PNG library cannot be used: {}", message);
}

[[noreturn]] void fail(std::string_view file, const PngReader& reader) {
  throw FormatError(fmt::format("{}: the PNG is damaged or cut short: {}", file, reader.message));
}

/// Colour profiles are skipped, and gAMA, sRGB and cHRM have no effect: values stay as they are stored. EXIF
/// is kept as it is, since libpng drops what begins with "Exif".
void read_header(PngReader& reader, std::string_view file) {
  bool read = reader.attempt([&reader] {
    png_set_read_fn(reader.png, &reader, read_bytes_for);
    png_set_user_limits(reader.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(reader.png, kMostTextBytes);
    png_set_chunk_cache_max(reader.png, kMostTextChunks);
    png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_ALWAYS,
                                reinterpret_cast<png_const_bytep>("eXIf"), 1);
    png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER, reinterpret_cast<png_const_bytep>("iCCP"),
                                1);
    png_read_info(reader.png, reader.info);
  });
  if (!read) fail(file, reader);
}

/// To 8 bits: fewer are spread over 0 to 255, of 16 the higher byte is taken. Palettes are resolved, and
/// transparent colours become an alpha channel. Returns the number of channels, 1 to 4.
int choose_channels(PngReader& reader, std::string_view file) {
  bool chosen = reader.attempt([&reader] {
    png_set_expand(reader.png);
    png_set_strip_16(reader.png);
    png_set_interlace_handling(reader.png);
    png_read_update_info(reader.png, reader.info);
  });
  if (!chosen) fail(file, reader);
  return png_get_channels(reader.png, reader.info);
}

void read_rows(PngReader& reader, Image& image, std::string_view file) {
  std::vector<png_bytep> rows;
  for (int y = 0; y < image.height; ++y)
    rows.push_back(image.pixels.data() + size_t(y) * size_t(image.width) * size_t(image.channels));
  bool read = reader.attempt([&reader, first = rows.data()] { png_read_image(reader.png, first); });
  if (!read) fail(file, reader);
}

/// v·a + white·(1 − a), rounded to the nearest as Pillow's alpha_composite() does it.
uint8_t over_white(uint32_t value, uint32_t alpha) {
  const uint32_t sum = 128 * (value * alpha + 255 * (255 - alpha)) + (128 << 7);
  return uint8_t((((sum >> 8) + sum) >> 8) >> 7);
}

/// Lays an image with alpha (2 or 4 channels) over white; another one stays.
Image without_alpha(Image image) {
  if (image.channels % 2 == 1) return image;
  const size_t colours = size_t(image.channels) - 1;
  Image opaque{image.width, image.height, int(colours), {}};
  opaque.pixels.resize(image.pixels.size() / (colours + 1) * colours);
  uint8_t* to = opaque.pixels.data();
  for (const uint8_t *from = image.pixels.data(), *end = from + image.pixels.size(); from < end;
       from += colours + 1)
    for (size_t c = 0; c < colours; ++c) *to++ = over_white(from[c], from[colours]);
  return opaque;
}

std::string_view text_of(const png_text& text) {
  const size_t length = text.compression >= PNG_ITXT_COMPRESSION_NONE ? text.itxt_length : text.text_length;
  return {text.text, length};
}

/// What chunks before and behind the picture say. Damage behind it is no error: it is complete.
OrientationSources orientation_sources(PngReader& reader) {
  reader.attempt([&reader] { png_read_end(reader.png, reader.info); });
  OrientationSources sources;
  png_unknown_chunkp chunks = nullptr;
  const int unread = png_get_unknown_chunks(reader.png, reader.info, &chunks);
  for (const png_unknown_chunk& chunk : std::span(chunks, size_t(unread)))
    sources.exif.assign(reinterpret_cast<const char*>(chunk.data), chunk.size);
  png_textp texts = nullptr;
  const int count = png_get_text(reader.png, reader.info, &texts, nullptr);
  for (const png_text& text : std::span(texts, size_t(count))) {
    const std::string_view key = text.key;
    if (key == "Raw profile type exif" && sources.exif.empty())
      sources.exif = bytes_of_raw_profile(text_of(text));
    if (key == "XML:com.adobe.xmp") sources.xmp = text_of(text);
  }
  return sources;
}

/// libpng's simple writer, released at the end of its scope.
struct PngWriter {
  png_image state{};
  PngWriter() { state.version = PNG_IMAGE_VERSION; }
  ~PngWriter() { png_image_free(&state); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;
};

}  // namespace

Image decode_png(std::span<const std::byte> bytes, std::string_view file, int64_t max_pixels) {
  PngReader reader(bytes);
  read_header(reader, file);
  const png_uint_32 width = png_get_image_width(reader.png, reader.info),
                    height = png_get_image_height(reader.png, reader.info);
  check_image_size(width, height, max_pixels, file);
  Image image{int(width), int(height), choose_channels(reader, file), {}};
  image.pixels.resize(size_t(width) * size_t(height) * size_t(image.channels));
  read_rows(reader, image, file);
  return turned_upright(without_alpha(std::move(image)), orientation_sources(reader));
}

std::vector<std::byte> encode_png(const Image& image) {
  PngWriter png;
  png.state.width = png_uint_32(image.width);
  png.state.height = png_uint_32(image.height);
  png.state.format = image.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png.state);
  std::vector<std::byte> bytes(size);
  bool written =
      png_image_write_to_memory(&png.state, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr);
  require<ValueError>(written, "the image cannot be written as PNG: {}", png.state.message);
  bytes.resize(size);
  return bytes;
}

}  // namespace treadle
