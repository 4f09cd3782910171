#include "treadle/formats/csv.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "treadle/core/error.h"
#include "treadle/formats/safetensors_header.h"
#include "treadle/formats/utf8.h"

namespace treadle {
namespace {

std::string_view without_blanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == text.npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

std::optional<float> number_in(std::string_view text) {
  text = without_blanks(text);
  float value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
  return whole ? std::optional(value) : std::nullopt;
}

}  // namespace

CsvReader::CsvReader(std::string_view text, std::string_view name) : text_(text), name_(name) {
  if (text_.starts_with(kByteOrderMark)) position_ = line_begin_ = kByteOrderMark.size();
}

bool CsvReader::next(std::vector<CsvField>& record) {
  record.clear();
  skip_empty_lines();
  if (position_ == text_.size()) return false;
  const int64_t line = line_;
  record.push_back(read_field());
  while (position_ < text_.size() && text_[position_] == ',') {
    ++position_;
    record.push_back(read_field());
  }
  pass_line_end();
  if (fields_ == 0) fields_ = record.size();
  require<FormatError>(record.size() == fields_,
                       "{}: the record in line {} has {} fields, the first one has {}", name_, line,
                       record.size(), fields_);
  return true;
}

void CsvReader::skip_empty_lines() {
  while (position_ < text_.size() && at_line_end()) pass_line_end();
}

CsvField CsvReader::read_field() {
  CsvField field{"", line_, int64_t(position_ - line_begin_) + 1};
  if (position_ < text_.size() && text_[position_] == '"')
    read_quoted(field);
  else
    read_plain(field);
  return field;
}

/// Two quotes stand for one; line ends belong to the text.
void CsvReader::read_quoted(CsvField& field) {
  for (++position_;; ++position_) {
    if (position_ == text_.size())
      throw FormatError(
          fmt::format("{}: the quote in line {}, column {} is not closed", name_, field.line, field.column));
    const char c = text_[position_];
    if (c == '"' && text_.substr(position_ + 1).starts_with('"'))
      ++position_;
    else if (c == '"')
      break;
    field.text += c;
    if (c == '\n') ++line_, line_begin_ = position_ + 1;
  }
  ++position_;
  if (position_ < text_.size() && text_[position_] != ',' && !at_line_end())
    fail("stands behind a closing quote; a comma or the end of the line belongs there");
}

void CsvReader::read_plain(CsvField& field) {
  const size_t begin = position_;
  while (position_ < text_.size() && text_[position_] != ',' && !at_line_end()) {
    if (text_[position_] == '"')
      fail("stands inside a field; the whole field must be quoted, and the quote doubled");
    if (text_[position_] == '\r') fail("is a carriage return without a line feed behind it");
    ++position_;
  }
  field.text = text_.substr(begin, position_ - begin);
}

bool CsvReader::at_line_end() const {
  return text_[position_] == '\n' || text_.substr(position_).starts_with("\r\n");
}

void CsvReader::pass_line_end() {
  if (position_ == text_.size()) return;
  position_ += text_[position_] == '\r' ? 2 : 1;
  ++line_, line_begin_ = position_;
}

void CsvReader::fail(std::string_view what) const {
  throw FormatError(fmt::format("{}: {} in line {}, column {} {}", name_,
                                printable(text_.substr(position_, 1)), line_, position_ - line_begin_ + 1,
                                what));
}

bool is_csv_number(std::string_view text) { return number_in(text).has_value(); }

float csv_number(const CsvField& field, std::string_view name) {
  const std::optional<float> value = number_in(field.text);
  require<FormatError>(value.has_value(), "{}: {} in line {}, column {} is no finite number", name,
                       printable(field.text), field.line, field.column);
  return *value;
}

}  // namespace treadle
