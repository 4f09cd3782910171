/// Comma-separated values: what RFC 4180 says, and what is refused where.
#include "treadle/formats/csv.h"

#include "tests/formats/temporary_folder.h"
#include "tests/refused.h"
#include "treadle/core/error.h"

namespace treadle {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of_csv(std::string_view text) {
  Rows rows;
  CsvReader reader(text, "some.csv");
  for (std::vector<CsvField> record; reader.next(record);) {
    rows.emplace_back();
    for (const CsvField& field : record) rows.back().push_back(field.text);
  }
  return rows;
}

TEST(Csv, FieldsAndRecords) {
  EXPECT_EQ(rows_of_csv("a,b\n1,2\n"), (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(rows_of_csv("a,b\r\n1,2"), (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(rows_of_csv(",\n , x\n"), (Rows{{"", ""}, {" ", " x"}}));
  EXPECT_EQ(rows_of_csv("\n\r\na\n\n\nb\n\n"), (Rows{{"a"}, {"b"}}));
  EXPECT_TRUE(rows_of_csv("").empty());
  EXPECT_TRUE(rows_of_csv("\xef\xbb\xbf").empty());
}

TEST(Csv, QuotedFields) {
  EXPECT_EQ(rows_of_csv("\"a,b\",\"say \"\"hi\"\"\"\n"), (Rows{{"a,b", "say \"hi\""}}));
  EXPECT_EQ(rows_of_csv("\"two\nlines\",x\r\n\"\",\"\"\r\n"), (Rows{{"two\nlines", "x"}, {"", ""}}));
  EXPECT_EQ(rows_of_csv("\"\"\n"), (Rows{{""}}));
}

TEST(Csv, TheByteOrderMarkIsNoPartOfTheFirstField) {
  EXPECT_EQ(rows_of_csv("\xef\xbb\xbf\"a\",b\n"), (Rows{{"a", "b"}}));
}

TEST(Csv, FieldsKnowWhereTheyBegin) {
  CsvReader reader(
      "\xef\xbb\xbf"
      "ab,\"x\ny\",c\nd,e,f\n");
  std::vector<CsvField> record;
  ASSERT_TRUE(reader.next(record));
  auto place = [&](size_t i) { return std::pair(record[i].line, record[i].column); };
  EXPECT_EQ(place(0), std::pair(int64_t(1), int64_t(1)));
  EXPECT_EQ(place(1), std::pair(int64_t(1), int64_t(4)));
  EXPECT_EQ(place(2), std::pair(int64_t(2), int64_t(4)));
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(place(2), std::pair(int64_t(3), int64_t(5)));
}

TEST(Csv, RefusalsSayWhere) {
  auto read = [](std::string text) { return [text] { rows_of_csv(text); }; };
  expect_refused({
      refused<FormatError>("quote inside", {"some.csv", "line 2, column 4", "inside a field"},
                           read("a,b\n1,2\"\n")),
      refused<FormatError>("behind a quote", {"'x'", "line 1, column 4", "behind a closing quote"},
                           read("\"a\"x,b\n")),
      refused<FormatError>("not closed", {"line 2, column 3 is not closed"}, read("a,b\n1,\"2\n3,4\n")),
      refused<FormatError>("carriage return", {"line 1, column 2", "carriage return"}, read("a\rb\n")),
      refused<FormatError>("fewer fields", {"line 3 has 1 fields, the first one has 2"},
                           read("a,b\n1,2\n3\n")),
      refused<FormatError>("more fields", {"line 4 has 3 fields"}, read("a,b\n\"\n\",2\n1,2,3")),
  });
}

TEST(Csv, Numbers) {
  auto number = [](std::string text) { return csv_number({std::move(text), 7, 9}, "some.csv"); };
  EXPECT_EQ(number("1.5"), 1.5f);
  EXPECT_EQ(number(" -2e3\t"), -2000.0f);
  EXPECT_EQ(number(".25"), 0.25f);
  for (const char* text : {"", " ", "1,5", "1.5x", "x", "nan", "inf", "-inf", "1e60", "0x10", "1 2"}) {
    expect_error<FormatError>([&] { number(text); }, {"some.csv", "line 7, column 9", "no finite number"});
    EXPECT_FALSE(is_csv_number(text)) << text;
  }
  EXPECT_TRUE(is_csv_number(" 1 "));
}

}  // namespace
}  // namespace treadle
