/// TensorboardLog: a run as event files that TensorBoard shows.
#pragma once  // public

#include <chrono>
#include <filesystem>

#include "treadle/formats/event_records.h"
#include "treadle/train/callback.h"

namespace treadle {

struct TensorboardOptions {
  std::filesystem::path folder;  ///< of the run
  std::map<std::string, HyperParameter> hyper_parameters = {};
  std::map<std::string, Image> images = {};  ///< shown as they are, by tag
};

/// The loss of each step ("train/loss"), the figures of each epoch ("validation/accuracy"), histograms of the
/// parameters after each epoch. Nothing is written before the first epoch is done: then event files of an
/// earlier run in the folder go. A run that is resumed adds a file, which takes back what the last one says
/// of steps that are done again.
class TREADLE_API TensorboardLog final : public Callback {
 public:
  explicit TensorboardLog(TensorboardOptions options) : options_(std::move(options)) {}
  void begin_fit(const FitStart& start) override;
  void end_step(const StepReport& report) override;
  void end_epoch(const EpochReport& report) override;
  void end_fit(const FitResult& result) override;

 private:
  void open();
  void write();

  TensorboardOptions options_;
  EventRecords records_;
  Module* model_ = nullptr;
  int64_t step_ = 0;
  bool resumed_ = false;
  std::filesystem::path file_;  ///< empty until it is opened
  std::chrono::steady_clock::time_point written_{};
};

}  // namespace treadle
