#include "treadle/formats/event_records.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "treadle/formats/protobuf_message.h"

namespace treadle {
namespace {

/// Numbers of fields, as the .proto files call them.
namespace field {
enum Event { wall_time = 1, step = 2, file_version = 3, summary = 5, session_log = 7 };
enum Value { tag = 1, simple_value = 2, image = 4, histogram = 5, metadata = 9 };
enum Image { height = 1, width = 2, colorspace = 3, encoded = 4 };
enum Histogram { min = 1, max = 2, count = 3, sum = 4, sum_squares = 5, bucket_limit = 6, bucket = 7 };
enum Metadata { plugin_data = 1, plugin_name = 1, plugin_content = 2 };
enum HyperParameters { session_start = 3, values = 1, key = 1, value = 2 };
enum Any { number_value = 2, string_value = 3, bool_value = 4 };
}  // namespace field

constexpr int kBuckets = 64, kSessionStarts = 1;

constexpr std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? 0x82f63b78u : 0);
    table[byte] = rest;
  }
  return table;
}

std::string little_endian(uint64_t value, int bytes) {
  std::string text;
  for (int byte = 0; byte < bytes; ++byte) text += char(value >> (8 * byte));
  return text;
}

/// A checksum of bytes that hold checksums themselves tells little: so it is rotated and moved.
std::string masked_crc(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return little_endian((crc >> 15 | crc << 17) + 0xa282ead8u, 4);
}

void append_record(std::string& file, const ProtobufMessage& event) {
  const std::string length = little_endian(event.bytes().size(), 8);
  file += length + masked_crc(length) + event.bytes() + masked_crc(event.bytes());
}

ProtobufMessage new_event(int64_t step) {
  ProtobufMessage event;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  event.number(field::wall_time, std::chrono::duration<double>(now).count());
  event.integer(field::step, step);
  return event;
}

/// An event of one value with that tag, of which `fill` says the rest.
template <class Fill>
void append_value(std::string& file, int64_t step, std::string_view tag, Fill fill) {
  ProtobufMessage value, summary, event = new_event(step);
  value.text(field::tag, tag);
  fill(value);
  summary.message(1, value);
  event.message(field::summary, summary);
  append_record(file, event);
}

ProtobufMessage histogram_of(std::span<const double> values) {
  double low = INFINITY, high = -INFINITY, sum = 0, squares = 0;
  for (double value : values) low = std::min(low, value), high = std::max(high, value);
  const double width = (high - low) / kBuckets;
  std::array<double, kBuckets> limits, counts{};
  for (int i = 0; i < kBuckets; ++i) limits[i] = i + 1 < kBuckets ? low + width * (i + 1) : high;
  for (double value : values) {
    sum += value, squares += value * value;
    ++counts[width > 0 ? std::min(int((value - low) / width), kBuckets - 1) : kBuckets - 1];
  }
  ProtobufMessage histogram;
  histogram.number(field::min, low);
  histogram.number(field::max, high);
  histogram.number(field::count, double(values.size()));
  histogram.number(field::sum, sum);
  histogram.number(field::sum_squares, squares);
  histogram.numbers(field::bucket_limit, limits);
  histogram.numbers(field::bucket, counts);
  return histogram;
}

ProtobufMessage any_of(const HyperParameter& parameter) {
  ProtobufMessage any;
  if (const auto* number = std::get_if<double>(&parameter)) any.number(field::number_value, *number);
  if (const auto* truth = std::get_if<bool>(&parameter)) any.integer(field::bool_value, *truth);
  if (const auto* text = std::get_if<std::string>(&parameter)) any.text(field::string_value, *text);
  return any;
}

/// The plugin's message SessionStartInfo.
ProtobufMessage session_start(const std::map<std::string, HyperParameter>& values) {
  ProtobufMessage start;
  for (const auto& [name, parameter] : values) {
    ProtobufMessage entry;
    entry.text(field::key, name);
    entry.message(field::value, any_of(parameter));
    start.message(field::values, entry);
  }
  return start;
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = crc_table();
  uint32_t crc = ~uint32_t(0);
  for (char byte : bytes) crc = crc >> 8 ^ kTable[(crc ^ uint8_t(byte)) & 0xff];
  return ~crc;
}

void EventRecords::begin_file() {
  ProtobufMessage event = new_event(0);
  event.text(field::file_version, "brain.Event:2");
  append_record(bytes_, event);
}

void EventRecords::restart(int64_t step) {
  ProtobufMessage log, event = new_event(step);
  log.integer(1, kSessionStarts);
  event.message(field::session_log, log);
  append_record(bytes_, event);
}

void EventRecords::scalar(int64_t step, std::string_view tag, double value) {
  append_value(bytes_, step, tag,
               [&](ProtobufMessage& message) { message.real(field::simple_value, float(value)); });
}

void EventRecords::image(int64_t step, std::string_view tag, const Image& image) {
  const std::vector<std::byte> png = png_bytes(image);
  ProtobufMessage picture;
  picture.integer(field::height, image.height);
  picture.integer(field::width, image.width);
  picture.integer(field::colorspace, image.channels);
  picture.text(field::encoded, {reinterpret_cast<const char*>(png.data()), png.size()});
  append_value(bytes_, step, tag, [&](ProtobufMessage& message) { message.message(field::image, picture); });
}

void EventRecords::histogram(int64_t step, std::string_view tag, std::span<const double> values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
               [](double value) { return std::isfinite(value); });
  if (finite.empty()) return;
  append_value(bytes_, step, tag,
               [&](ProtobufMessage& message) { message.message(field::histogram, histogram_of(finite)); });
}

void EventRecords::hyper_parameters(const std::map<std::string, HyperParameter>& values) {
  ProtobufMessage content, plugin, metadata;
  content.message(field::session_start, session_start(values));
  plugin.text(field::plugin_name, "hparams");
  plugin.text(field::plugin_content, content.bytes());
  metadata.message(field::plugin_data, plugin);
  append_value(bytes_, 0, "_hparams_/session_start_info",
               [&](ProtobufMessage& message) { message.message(field::metadata, metadata); });
}

}  // namespace treadle
