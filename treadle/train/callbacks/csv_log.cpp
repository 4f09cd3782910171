#include "treadle/train/callbacks/csv_log.h"

#include <fmt/format.h>

#include "treadle/formats/file.h"

namespace treadle {
namespace {

std::set<std::string> columns_of(const std::vector<EpochFigures>& epochs) {
  std::set<std::string> columns;
  for (const EpochFigures& epoch : epochs)
    for (const auto& [name, value] : epoch.values) columns.insert(name);
  return columns;
}

std::string row_of(const EpochFigures& epoch, const std::set<std::string>& columns) {
  std::string row = std::to_string(epoch.epoch);
  for (const std::string& column : columns) {
    auto found = epoch.values.find(column);
    row += found == epoch.values.end() ? "," : fmt::format(",{}", found->second);
  }
  return row + "\n";
}

}  // namespace

void CsvLog::begin_fit(const FitStart& start) {
  epochs_ = start.earlier;
  if (!epochs_.empty()) write();
}

void CsvLog::end_epoch(const EpochReport& report) {
  epochs_.push_back(report.figures());
  if (columns_ == columns_of(epochs_))
    append_to_file(file_, row_of(epochs_.back(), columns_));
  else
    write();
}

void CsvLog::write() {
  columns_ = columns_of(epochs_);
  std::string text = fmt::format("epoch,{}\n", fmt::join(columns_, ","));
  for (const EpochFigures& epoch : epochs_) text += row_of(epoch, columns_);
  replace_text(file_, text);
}

}  // namespace treadle
