#include "treadle/train/callbacks/tensorboard_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "treadle/formats/file.h"

namespace treadle {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "events.out.tfevents.";
constexpr auto kWriteEvery = std::chrono::seconds(2);

/// Later files have later names: seconds first, as readers expect.
fs::path new_file(const fs::path& folder) {
  static std::atomic<int> count = 0;
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return folder / fmt::format("{}{}.{}.{}.{}", kPrefix,
                              std::chrono::duration_cast<std::chrono::seconds>(now).count(), host.data(),
                              ::getpid(), count++);
}

void remove_event_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(kPrefix)) files.push_back(entry.path());
  for (const fs::path& file : files) fs::remove(file);
}

/// "validation_accuracy" → "validation/accuracy"
std::string tag_of(std::string figure) {
  const size_t line = figure.find('_');
  if (figure.starts_with("validation") || figure.starts_with("test")) figure[line] = '/';
  return figure == "train_loss" ? "epoch/train_loss" : figure;
}

}  // namespace

void TensorboardLog::begin_fit(const FitStart& start) {
  model_ = &start.model;
  step_ = start.steps_done;
  resumed_ = step_ > 0;
  records_.begin_file();
  if (resumed_) return records_.restart(step_ + 1);
  records_.hyper_parameters(options_.hyper_parameters);
  for (const auto& [tag, image] : options_.images) records_.image(0, tag, image);
}

void TensorboardLog::end_step(const StepReport& report) {
  records_.scalar(++step_, "train/loss", report.loss);
  const bool may_write = resumed_ || !file_.empty();
  if (may_write && std::chrono::steady_clock::now() - written_ >= kWriteEvery) write();
}

void TensorboardLog::end_epoch(const EpochReport& report) {
  for (const auto& [figure, value] : report.figures().values)
    records_.scalar(report.steps, tag_of(figure), value);
  for (const NamedTensor& parameter : model_->named_parameters())
    records_.histogram(report.steps, "parameters/" + parameter.name, parameter.tensor.to_doubles());
  write();
}

void TensorboardLog::end_fit(const FitResult& result) {
  if (!result.losses.empty()) write();
}

void TensorboardLog::open() {
  if (!resumed_) remove_event_files(options_.folder);
  file_ = new_file(options_.folder);
}

void TensorboardLog::write() {
  if (file_.empty()) open();
  append_to_file(file_, records_.take());
  written_ = std::chrono::steady_clock::now();
}

}  // namespace treadle
