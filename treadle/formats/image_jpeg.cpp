#include <csetjmp>
#include <cstdio>
// jpeglib.h needs FILE and size_t to be declared.
#include <jpeglib.h>

#include <jerror.h>

#include "treadle/core/error.h"
#include "treadle/formats/image_codecs.h"
#include "treadle/formats/image_orientation.h"

namespace treadle {
namespace {

/// More scans than any encoder writes: each one costs a pass over the image.
constexpr int kMaxScans = 100;

constexpr int kMetadataMarker = JPEG_APP0 + 1;  ///< EXIF and XMP

/// libjpeg's decoder. Its errors jump to `escape`, set by attempt(); the message then tells the cause.
struct JpegDecoder {
  jpeg_decompress_struct state{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf escape;
  char message[JMSG_LENGTH_MAX] = "";

  JpegDecoder();
  ~JpegDecoder() { jpeg_destroy_decompress(&state); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  /// Calls libjpeg; false when it failed. `step` must own nothing: a failure jumps out of it without
  /// unwinding.
  template <class Step>
  bool attempt(Step step) {
    if (setjmp(escape)) return false;
    step();
    return true;
  }
};

[[noreturn]] void escape_with_message(j_common_ptr state) {
  auto& decoder = *static_cast<JpegDecoder*>(state->client_data);
  state->err->format_message(state, decoder.message);
  std::longjmp(decoder.escape, 1);
}

/// Lost picture data is an error here, where libjpeg fills in grey and warns. Other warnings are harmless.
void judge_warning(j_common_ptr state, int level) {
  int code = state->err->msg_code;
  bool damaged = code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE ||
                 code == JWRN_MUST_RESYNC;
  if (level < 0 && damaged) escape_with_message(state);
}

void limit_scans(j_common_ptr state) {
  if (reinterpret_cast<j_decompress_ptr>(state)->input_scan_number <= kMaxScans) return;
  auto& decoder = *static_cast<JpegDecoder*>(state->client_data);
  std::snprintf(decoder.message, sizeof decoder.message, "more than %d scans", kMaxScans);
  std::longjmp(decoder.escape, 1);
}

JpegDecoder::JpegDecoder() {
  state.err = jpeg_std_error(&errors);
  errors.error_exit = escape_with_message;
  errors.emit_message = judge_warning;
  state.client_data = this;
  // Fails only when header and library differ in version, before anything is allocated.
  bool created = attempt([this] { jpeg_create_decompress(&state); });
  require<FormatError>(created, "the JPEG library cannot be used: {}", message);
  progress.progress_monitor = limit_scans;
  state.progress = &progress;
}

[[noreturn]] void fail(std::string_view file, const JpegDecoder& jpeg) {
  throw FormatError(fmt::format("{}: the JPEG is damaged or cut short: {}", file, jpeg.message));
}

void read_header(JpegDecoder& jpeg, std::span<const std::byte> bytes, std::string_view file) {
  bool read = jpeg.attempt([&jpeg, bytes] {
    constexpr unsigned kWhole = 0xffff;
    jpeg_save_markers(&jpeg.state, kMetadataMarker, kWhole);
    jpeg_mem_src(&jpeg.state, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&jpeg.state, TRUE);
  });
  if (!read) fail(file, jpeg);
  int components = jpeg.state.num_components;
  require<FormatError>(components == 1 || components == 3 || components == 4,
                       "{}: the JPEG has {} components, 1, 3 or 4 are read; convert it to RGB", file,
                       components);
}

void read_rows(JpegDecoder& jpeg, Image& image, std::string_view file) {
  size_t row_bytes = size_t(image.width) * size_t(image.channels);
  uint8_t* pixels = image.pixels.data();
  bool read = jpeg.attempt([&jpeg, pixels, row_bytes] {
    jpeg_start_decompress(&jpeg.state);
    while (jpeg.state.output_scanline < jpeg.state.output_height) {
      JSAMPROW row = pixels + jpeg.state.output_scanline * row_bytes;
      jpeg_read_scanlines(&jpeg.state, &row, 1);
    }
    jpeg_finish_decompress(&jpeg.state);
  });
  if (!read) fail(file, jpeg);
}

/// Inks as Adobe writes them: 255 is no ink, whatever the file says of itself; so does Pillow.
Image rgb_of_inks(const Image& inks) {
  Image rgb{inks.width, inks.height, 3, {}};
  rgb.pixels.reserve(inks.pixels.size() / 4 * 3);
  for (size_t i = 0; i < inks.pixels.size(); i += 4) {
    const uint32_t light = inks.pixels[i + 3];  // that black leaves
    for (size_t c = 0; c < 3; ++c) {
      const uint32_t product = (255u - inks.pixels[i + c]) * light + 128;
      rgb.pixels.push_back(uint8_t(light - (((product >> 8) + product) >> 8)));
    }
  }
  return rgb;
}

/// EXIF may go on in a second marker; of XMP the last one counts.
OrientationSources orientation_sources(const JpegDecoder& jpeg) {
  constexpr std::string_view kExif("Exif\0\0", 6), kXmp("http://ns.adobe.com/xap/1.0/\0", 29);
  OrientationSources sources;
  for (auto marker = jpeg.state.marker_list; marker; marker = marker->next) {
    if (marker->marker != kMetadataMarker) continue;
    std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
    if (data.starts_with(kExif)) sources.exif += data.substr(kExif.size());
    if (data.starts_with(kXmp)) sources.xmp = data.substr(kXmp.size());
  }
  return sources;
}

}  // namespace

Image decode_jpeg(std::span<const std::byte> bytes, std::string_view file, int64_t max_pixels) {
  JpegDecoder jpeg;
  read_header(jpeg, bytes, file);
  check_image_size(jpeg.state.image_width, jpeg.state.image_height, max_pixels, file);
  const int channels = jpeg.state.num_components;
  jpeg.state.out_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  Image image{int(jpeg.state.image_width), int(jpeg.state.image_height), channels, {}};
  image.pixels.resize(size_t(image.width) * size_t(image.height) * size_t(image.channels));
  const OrientationSources sources = orientation_sources(jpeg);  // gone when the picture is read
  read_rows(jpeg, image, file);
  return turned_upright(channels == 4 ? rgb_of_inks(image) : std::move(image), sources);
}

}  // namespace treadle
