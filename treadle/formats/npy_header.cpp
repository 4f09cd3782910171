#include "treadle/formats/npy_header.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "treadle/core/error.h"
#include "treadle/formats/safetensors_header.h"

namespace treadle {
namespace {

/// NumPy's codes without the byte order, in the order of DType.
constexpr std::string_view kCodes[kDTypeCount] = {"f4", "f8", "f2", "V2", "i1", "u1", "i2", "i4", "i8", "b1"};

std::string known_codes() {
  std::string text;
  for (std::string_view code : kCodes) text += fmt::format("{}{}", text.empty() ? "" : " ", code);
  return text;
}

/// Reads the literal from front to back: the few forms that NumPy writes, with any spaces and order of keys.
class DictionaryReader {
 public:
  DictionaryReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  NpyHeader read() {
    expect('{');
    while (!accept('}')) {
      read_member();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    check(position_ == text_.size(), "the end");
    require<FormatError>(code_ && fortran_order_ && shape_,
                         "{}: the header lacks one of descr, fortran_order and shape", file_);
    set_dtype();
    header_.fortran_order = *fortran_order_;
    header_.shape = *shape_;
    return header_;
  }

 private:
  void skip_blanks() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) ++position_;
  }

  void check(bool condition, std::string_view expected) const {
    require<FormatError>(condition, "{}: the header has {} at its byte {} where {} belongs", file_,
                         printable(text_.substr(position_, 12)), position_, expected);
  }

  bool accept(char wanted) {
    skip_blanks();
    const bool found = position_ < text_.size() && text_[position_] == wanted;
    position_ += found;
    return found;
  }

  void expect(char wanted) { check(accept(wanted), fmt::format("'{}'", wanted)); }

  bool accept_word(std::string_view word) {
    skip_blanks();
    const bool found = text_.substr(position_).starts_with(word);
    if (found) position_ += word.size();
    return found;
  }

  std::string_view read_string() {
    skip_blanks();
    const char quote = position_ < text_.size() ? text_[position_] : '\0';
    check(quote == '\'' || quote == '"', "a string");
    const size_t end = text_.find(quote, position_ + 1);
    check(end != text_.npos, "a string that ends");
    const std::string_view found = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
    return found;
  }

  void read_member() {
    const std::string_view key = read_string();
    expect(':');
    if (key == "descr") return take(code_, key, read_code());
    if (key == "fortran_order") return take(fortran_order_, key, read_bool());
    if (key == "shape") return take(shape_, key, read_shape());
    throw FormatError(
        fmt::format("{}: the header has the key {}, which is none of an array's", file_, printable(key)));
  }

  template <class T>
  void take(std::optional<T>& target, std::string_view key, T value) {
    require<FormatError>(!target, "{}: the header has the key {} twice", file_, printable(key));
    target = std::move(value);
  }

  std::string read_code() {
    skip_blanks();
    require<FormatError>(position_ < text_.size() && text_[position_] != '[',
                         "{}: the array has elements of several fields; store each field as an array", file_);
    return std::string(read_string());
  }

  bool read_bool() {
    if (accept_word("True")) return true;
    check(accept_word("False"), "True or False");
    return false;
  }

  Shape read_shape() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      shape = with_extent(shape, read_extent());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  Shape with_extent(Shape shape, int64_t extent) const {
    require<FormatError>(shape.rank() < kMaxRank, "{}: the array has more than {} axes", file_, kMaxRank);
    shape.push_back(extent);
    return shape;
  }

  int64_t read_extent() {
    skip_blanks();
    int64_t extent = -1;
    const char* begin = text_.data() + position_;
    auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), extent);
    check(error == std::errc() && extent >= 0, "an extent below 2^63");
    position_ += size_t(end - begin);
    accept('L');  // as Python 2 wrote long integers
    return extent;
  }

  void set_dtype() {
    const std::string_view code = *code_;
    require<FormatError>(!code.ends_with('O') || code.size() > 2,
                         "{}: the array holds Python objects, which are never unpickled; store numbers",
                         file_);
    const std::string_view kind = code.empty() ? code : code.substr(1);
    auto found = std::find(std::begin(kCodes), std::end(kCodes), kind);
    require<FormatError>(found != std::end(kCodes) && std::string_view("<>|=").find(code[0]) != code.npos,
                         "{}: the array has dtype {}, this library reads {} with < or > or | before it",
                         file_, printable(code), known_codes());
    header_.dtype = DType(found - std::begin(kCodes));
    header_.big_endian = code[0] == '>';
  }

  std::string_view text_, file_;
  size_t position_ = 0;
  std::optional<std::string> code_;
  std::optional<bool> fortran_order_;
  std::optional<Shape> shape_;
  NpyHeader header_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, std::string_view file) {
  return DictionaryReader(text, file).read();
}

std::string compose_npy_header(DType dtype, const Shape& shape) {
  std::string extents;
  for (int64_t extent : shape) extents += fmt::format("{}, ", extent);
  if (shape.rank() > 1) extents.resize(extents.size() - 2);
  if (shape.rank() == 1) extents.pop_back();
  return fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                     size_of(dtype) == 1 ? '|' : '<', kCodes[int(dtype)], extents);
}

}  // namespace treadle
