#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include "treadle/data/dataset_registry.h"
#include "treadle/data/file_names.h"
#include "treadle/data/hold_out.h"
#include "treadle/data/read_bytes.h"
#include "treadle/formats/csv.h"

namespace treadle::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kLabelNames = {"label", "class", "target", "species"};

/// The file itself, or a folder with a table to train on.
fs::path find(const fs::path& path) {
  if (is_file(path)) return path.extension() == ".csv" ? path : fs::path();
  return is_file(path / "train.csv") ? path : fs::path();
}

/// A table read: numbers, and the text of each label.
struct Table {
  std::vector<std::string> columns;  ///< of all fields, where the file names them
  size_t width = 0, label_column = 0;
  std::vector<float> values;
  std::vector<std::string> labels;
};

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; });
  return text;
}

size_t find_column(const Table& table, std::string_view name) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), name);
  return size_t(found - table.columns.begin());
}

/// The column that is named, by its name or its number; else one that is called like a label; else the last.
size_t choose_label(const Table& table, const std::string& given, const std::string& file) {
  if (given.empty()) {
    for (std::string_view name : kLabelNames)
      for (size_t column = 0; column < table.columns.size(); ++column)
        if (lower_case(table.columns[column]) == name) return column;
    return table.width - 1;
  }
  if (size_t column = find_column(table, given); column < table.columns.size()) return column;
  size_t number = 0;
  auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), number);
  const bool is_number = error == std::errc() && end == given.data() + given.size();
  require<ValueError>(
      is_number && number >= 1 && number <= table.width,
      "{}: there is no column '{}' for the labels; it has {} columns{}", file, given, table.width,
      table.columns.empty() ? " without names" : fmt::format(", called {}", fmt::join(table.columns, ", ")));
  return number - 1;
}

void append_row(Table& table, const std::vector<CsvField>& record, const std::string& file) {
  for (size_t column = 0; column < record.size(); ++column)
    if (column == table.label_column)
      table.labels.push_back(record[column].text);
    else
      table.values.push_back(csv_number(record[column], file));
}

/// A first record without any number names the columns.
bool is_header(const std::vector<CsvField>& record) {
  return std::none_of(record.begin(), record.end(), [](const CsvField& f) { return is_csv_number(f.text); });
}

Table read_table(const fs::path& path, const std::string& label) {
  const std::string file = path.string();
  const std::vector<std::byte> bytes = read_bytes(path);
  CsvReader reader({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file);
  Table table;
  std::vector<CsvField> record;
  bool more = reader.next(record);
  table.width = record.size();
  require<FormatError>(more && table.width >= 2,
                       "{}: has {} columns, a label and at least one number are needed", file, table.width);
  const bool has_names = is_header(record);
  if (has_names)
    for (const CsvField& field : record) table.columns.push_back(field.text);
  table.label_column = choose_label(table, label, file);
  if (has_names) more = reader.next(record);
  for (; more; more = reader.next(record)) append_row(table, record, file);
  require<FormatError>(!table.labels.empty(), "{}: has names of columns and no row", file);
  return table;
}

/// Whole numbers in their order, other texts in the alphabet's.
struct ByValue {
  static std::optional<int64_t> number_of(const std::string& text) {
    int64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? std::optional(number) : std::nullopt;
  }
  bool operator()(const std::string& a, const std::string& b) const {
    const auto x = number_of(a), y = number_of(b);
    if (x && y && *x != *y) return *x < *y;
    if (x.has_value() != y.has_value()) return x.has_value();
    return a < b;
  }
};
using ClassNumbers = std::map<std::string, int32_t, ByValue>;

ClassNumbers class_numbers(const Table& table) {
  ClassNumbers numbers;
  for (const std::string& label : table.labels) numbers.emplace(label, 0);
  int32_t next = 0;
  for (auto& [name, number] : numbers) number = next++;
  return numbers;
}

ImageDataset part_of(Table table, const ClassNumbers& classes, const std::string& file) {
  ImageDataset part;
  part.image_shape = {int64_t(table.width) - 1};
  part.values = std::move(table.values);
  for (const std::string& label : table.labels) {
    const auto found = classes.find(label);
    require<FormatError>(found != classes.end(),
                         "{}: the label '{}' of row {} is not among the training labels", file, label,
                         part.labels.size() + 1);
    part.labels.push_back(found->second);
  }
  for (const auto& [name, number] : classes) part.classes.push_back(name);
  return part;
}

DatasetSplits load(const fs::path& path, const DatasetOptions& options) {
  const fs::path train = is_file(path) ? path : path / "train.csv", test = path / "test.csv";
  Table table = read_table(train, options.label_column);
  const ClassNumbers classes = class_numbers(table);
  const std::vector<std::string> columns = table.columns;
  const size_t label_column = table.label_column;
  DatasetSplits splits;
  splits.train = part_of(std::move(table), classes, train.string());
  if (!is_file(test)) {
    hold_out_test(splits, kTestShare, options.seed);
    return splits;
  }
  Table other = read_table(test, options.label_column);
  require<FormatError>(other.columns == columns && other.label_column == label_column,
                       "{}: the columns are called otherwise than those of {}", test.string(),
                       train.string());
  splits.test = part_of(std::move(other), classes, test.string());
  return splits;
}

}  // namespace

/// Tables of numbers with a label in each row.
void register_csv_file(DatasetRegistry& registry) {
  registry.add({.place = 5,
                .files = "a .csv file of numbers with a label in each row, or train.csv",
                .find = find,
                .load = load});
}

}  // namespace treadle::datasets
