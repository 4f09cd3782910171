/// Reading comma-separated values after RFC 4180: fields may be quoted, lines end with LF or CR LF, a byte
/// order mark of UTF-8 is passed over.
#pragma once  // public

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "treadle/core/export.h"

namespace treadle {

/// A field and where it begins, counted from 1; columns count bytes.
struct CsvField {
  std::string text;
  int64_t line = 0, column = 0;
};

/// Gives one record after the other.
class TREADLE_API CsvReader {
 public:
  /// Both texts must outlive the reader; `name` stands for the path in messages.
  explicit CsvReader(std::string_view text, std::string_view name = "CSV data");

  /// Reads the next record; false at the end. Empty lines are no records. Throws FormatError, with line and
  /// column, for a quote inside a field that does not begin with one, text behind a closing quote, a quote
  /// that is not closed, a carriage return alone, and a record with another number of fields than the first.
  bool next(std::vector<CsvField>& record);

 private:
  void skip_empty_lines();
  CsvField read_field();
  void read_quoted(CsvField& field);
  void read_plain(CsvField& field);
  bool at_line_end() const;
  void pass_line_end();
  [[noreturn]] void fail(std::string_view what) const;

  std::string_view text_, name_;
  size_t position_ = 0, line_begin_ = 0;
  int64_t line_ = 1;
  size_t fields_ = 0;  ///< of the first record
};

/// Whether the text is a number, as csv_number() reads it.
TREADLE_API bool is_csv_number(std::string_view text);

/// The finite number that a field holds, blanks around it left aside. Throws FormatError with line and
/// column.
TREADLE_API float csv_number(const CsvField& field, std::string_view name);

}  // namespace treadle
