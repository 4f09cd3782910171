#include "treadle/formats/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <unordered_set>

#include "treadle/core/error.h"

namespace treadle {
namespace {

constexpr std::string_view kMetadataKey = "__metadata__";

/// The format's names, in the order of DType.
constexpr std::string_view kDTypeNames[kDTypeCount] = {"F32", "F64", "F16", "BF16", "I8",
                                                       "U8",  "I16", "I32", "I64",  "BOOL"};

std::string joined(std::span<const std::string> parts) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : ",") + part;
  return text;
}

std::string known_dtypes() {
  std::string text;
  for (std::string_view name : kDTypeNames) text += fmt::format("{}{}", text.empty() ? "" : " ", name);
  return text;
}

/// Receives the JSON events of a header; keeps no tree, so depth and size of hostile input cost nothing.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(std::string_view file) : file_(file) {}
  SafetensorsHeader take() { return std::move(header_); }

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("true or false"); }
  bool number_integer(number_integer_t value) override { unexpected(fmt::format("the number {}", value)); }
  bool number_float(number_float_t value, const string_t&) override {
    unexpected(fmt::format("the number {}", value));
  }
  bool binary(binary_t&) override { unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ == Place::shape) return add_extent(value);
    if (place_ == Place::offsets) return add_offset(value);
    unexpected(fmt::format("the number {}", value));
  }

  bool string(string_t& text) override {
    if (place_ == Place::metadata) {
      bool fresh = header_.metadata.emplace(field_, text).second;
      require<FormatError>(fresh, "{}: the metadata key {} is there twice", file_, printable(field_));
      return true;
    }
    if (place_ == Place::tensor && field_ == "dtype") return set_dtype(text);
    unexpected(fmt::format("the string {}", printable(text)));
  }

  bool start_object(size_t) override {
    if (place_ == Place::start)
      place_ = Place::header;
    else if (place_ == Place::header)
      enter_member();
    else
      unexpected("an object");
    return true;
  }

  bool key(string_t& text) override {
    if (place_ != Place::header) {
      field_ = text;
      return true;
    }
    name_ = text;
    bool fresh = names_.insert(text).second;
    require<FormatError>(fresh, "{}: the header has the key {} twice", file_, printable(text));
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) finish_tensor();
    place_ = Place::header;
    return true;
  }

  bool start_array(size_t) override {
    if (place_ == Place::tensor && field_ == "shape")
      begin_shape();
    else if (place_ == Place::tensor && field_ == "data_offsets")
      begin_offsets();
    else
      unexpected("an array");
    return true;
  }

  bool end_array() override {
    place_ = Place::tensor;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    throw FormatError(
        fmt::format("{}: the header is not JSON in UTF-8 near its byte {}; the file is damaged or of another "
                    "format",
                    file_, position));
  }

 private:
  enum class Place { start, header, metadata, tensor, shape, offsets };

  /// The tensor whose object is being read.
  struct Partial {
    std::optional<DType> dtype;
    std::optional<Shape> shape;
    std::optional<std::vector<uint64_t>> offsets;
  };

  std::string expected() const {
    switch (place_) {
      case Place::start:
        return "an object";
      case Place::header:
        return fmt::format("an object for {}", printable(name_));
      case Place::metadata:
        return fmt::format("a string for the metadata key {}", printable(field_));
      case Place::tensor:
        return fmt::format("dtype, shape or data_offsets of tensor {}", printable(name_));
      case Place::shape:
        return fmt::format("an extent of tensor {}", printable(name_));
      default:
        return fmt::format("an offset of tensor {}", printable(name_));
    }
  }

  [[noreturn]] void unexpected(std::string_view what) const {
    std::string field = place_ == Place::tensor ? fmt::format(" (key {})", printable(field_)) : "";
    throw FormatError(
        fmt::format("{}: the header has {}{} where {} belongs", file_, what, field, expected()));
  }

  void check_once(bool seen) const {
    require<FormatError>(!seen, "{}: tensor {} has the key {} twice", file_, printable(name_),
                         printable(field_));
  }

  void enter_member() {
    place_ = name_ == kMetadataKey ? Place::metadata : Place::tensor;
    partial_ = {};
  }

  void begin_shape() {
    check_once(partial_.shape.has_value());
    partial_.shape.emplace();
    place_ = Place::shape;
  }

  void begin_offsets() {
    check_once(partial_.offsets.has_value());
    partial_.offsets.emplace();
    place_ = Place::offsets;
  }

  bool set_dtype(std::string_view text) {
    check_once(partial_.dtype.has_value());
    auto found = std::find(std::begin(kDTypeNames), std::end(kDTypeNames), text);
    require<FormatError>(found != std::end(kDTypeNames), "{}: tensor {} has dtype {}, this library reads {}",
                         file_, printable(name_), printable(text), known_dtypes());
    partial_.dtype = DType(found - std::begin(kDTypeNames));
    return true;
  }

  bool add_extent(uint64_t value) {
    require<FormatError>(value <= uint64_t(INT64_MAX),
                         "{}: tensor {} has an extent of {}, more than 2^63 - 1", file_, printable(name_),
                         value);
    require<FormatError>(partial_.shape->rank() < kMaxRank, "{}: tensor {} has more than {} axes", file_,
                         printable(name_), kMaxRank);
    partial_.shape->push_back(int64_t(value));
    return true;
  }

  bool add_offset(uint64_t value) {
    require<FormatError>(partial_.offsets->size() < 2, "{}: tensor {} has more than two data_offsets", file_,
                         printable(name_));
    partial_.offsets->push_back(value);
    return true;
  }

  void finish_tensor() {
    bool complete = partial_.dtype && partial_.shape && partial_.offsets && partial_.offsets->size() == 2;
    require<FormatError>(complete, "{}: tensor {} lacks one of dtype, shape and two data_offsets", file_,
                         printable(name_));
    const auto& offsets = *partial_.offsets;
    header_.tensors.push_back({name_, *partial_.dtype, *partial_.shape, offsets[0], offsets[1]});
  }

  std::string_view file_;
  SafetensorsHeader header_;
  std::unordered_set<std::string> names_;
  Place place_ = Place::start;
  std::string name_;   // key in the header: a tensor, or the metadata
  std::string field_;  // key inside that
  Partial partial_;
};

/// Bytes of a tensor, or nothing when they, or the strides of its shape, exceed int64.
std::optional<uint64_t> byte_count(const DeclaredTensor& tensor) {
  int64_t bound = int64_t(size_of(tensor.dtype));
  bool empty = false;
  for (int64_t extent : tensor.shape) {
    empty = empty || extent == 0;
    if (__builtin_mul_overflow(bound, std::max<int64_t>(extent, 1), &bound)) return {};
  }
  return empty ? 0 : uint64_t(bound);
}

void check_size(const DeclaredTensor& tensor, uint64_t data_bytes, std::string_view file) {
  require<FormatError>(tensor.begin <= tensor.end && tensor.end <= data_bytes,
                       "{}: tensor {} claims bytes {} to {} of {} bytes of data", file,
                       printable(tensor.name), tensor.begin, tensor.end, data_bytes);
  auto needed = byte_count(tensor);
  std::string shape = to_string(tensor.shape);
  require<FormatError>(needed.has_value(), "{}: tensor {} has shape {}, whose size overflows", file,
                       printable(tensor.name), shape);
  require<FormatError>(*needed == tensor.end - tensor.begin,
                       "{}: tensor {} of {} {} takes {} bytes, its offsets hold {}", file,
                       printable(tensor.name), kDTypeNames[int(tensor.dtype)], shape, *needed,
                       tensor.end - tensor.begin);
}

void check_coverage(const SafetensorsHeader& header, uint64_t data_bytes, std::string_view file) {
  std::vector<const DeclaredTensor*> order;
  for (const auto& tensor : header.tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(),
            [](auto* a, auto* b) { return std::pair(a->begin, a->end) < std::pair(b->begin, b->end); });
  uint64_t covered = 0;
  for (const auto* tensor : order) {
    require<FormatError>(tensor->begin == covered,
                         "{}: tensor {} begins at byte {} of the data, the one before it ends at {}", file,
                         printable(tensor->name), tensor->begin, covered);
    covered = tensor->end;
  }
  require<FormatError>(covered == data_bytes, "{}: the tensors fill {} bytes, behind the header are {}", file,
                       covered, data_bytes);
}

std::string json_string(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw ValueError(
        fmt::format("{} is not UTF-8, so it cannot be stored in a safetensors file", printable(text)));
  }
}

std::string json_array(const Shape& shape) {
  std::vector<std::string> extents;
  for (int64_t extent : shape) extents.push_back(std::to_string(extent));
  return fmt::format("[{}]", joined(extents));
}

std::string metadata_member(const std::map<std::string, std::string>& metadata) {
  std::vector<std::string> pairs;
  for (const auto& [key, value] : metadata) pairs.push_back(json_string(key) + ":" + json_string(value));
  return fmt::format("\"{}\":{{{}}}", kMetadataKey, joined(pairs));
}

std::string tensor_member(const DeclaredTensor& tensor) {
  return fmt::format(R"({}:{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", json_string(tensor.name),
                     kDTypeNames[int(tensor.dtype)], json_array(tensor.shape), tensor.begin, tensor.end);
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view json, uint64_t data_bytes,
                                           std::string_view file) {
  require<FormatError>(json.starts_with('{'),
                       "{}: the header does not begin with '{{'; this is not a safetensors file", file);
  HeaderReader reader(file);
  nlohmann::json::sax_parse(json, &reader);
  SafetensorsHeader header = reader.take();
  for (const auto& tensor : header.tensors) check_size(tensor, data_bytes, file);
  check_coverage(header, data_bytes, file);
  return header;
}

std::string compose_safetensors_header(const SafetensorsHeader& header) {
  std::vector<std::string> members;
  if (!header.metadata.empty()) members.push_back(metadata_member(header.metadata));
  for (const auto& tensor : header.tensors) members.push_back(tensor_member(tensor));
  std::string json = fmt::format("{{{}}}", joined(members));
  json.append((8 - json.size() % 8) % 8, ' ');
  return json;
}

std::string printable(std::string_view name) {
  constexpr size_t kLongest = 80;
  std::string text(name.substr(0, kLongest));
  for (char& c : text)
    if (uint8_t(c) < 0x20 || uint8_t(c) >= 0x7f) c = '?';
  return fmt::format("'{}{}'", text, name.size() > kLongest ? "..." : "");
}

}  // namespace treadle
