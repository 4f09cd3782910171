/// CsvLog: the figures of all epochs as a table that spreadsheets read.
#pragma once  // public

#include <filesystem>
#include <set>

#include "treadle/train/callback.h"

namespace treadle {

/// A row for each epoch, a column for each figure, under the names of metrics.jsonl; a figure that an epoch
/// lacks is empty. Numbers have a decimal point in every locale.
class TREADLE_API CsvLog final : public Callback {
 public:
  explicit CsvLog(std::filesystem::path file) : file_(std::move(file)) {}
  /// Of a resumed run the file is written anew, so that it has what a killed process did not get to.
  void begin_fit(const FitStart& start) override;
  void end_epoch(const EpochReport& report) override;

 private:
  void write();

  std::filesystem::path file_;
  std::vector<EpochFigures> epochs_;
  std::set<std::string> columns_;  ///< that the file has
};

}  // namespace treadle
