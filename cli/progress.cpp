#include "cli/progress.h"

#include <fmt/core.h>

#include <system_error>
#include <utility>

#include "cli/format.h"
#include "cli/terminal_line.h"

namespace treadle::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr int kBarWidth = 24;

std::string bar(int64_t done, int64_t of) {
  std::string text;
  int filled = int(done * kBarWidth / std::max<int64_t>(of, 1));
  for (int i = 0; i < kBarWidth; ++i) text += i < filled ? "━" : "─";
  return text;
}

/// "  test loss 0.2242  test accuracy 91.97 %": the loss, then the others.
std::string figures(const char* part, const Metrics& metrics) {
  if (metrics.empty()) return "";
  std::string text = fmt::format("  {} loss {:.4f}", part, metrics["loss"]);
  for (const auto& [name, value] : metrics.values)
    if (name != "loss")
      text += fmt::format("  {} {} {}", part, name,
                          name == "accuracy" ? percent(value) : fmt::format("{:.3f}", value));
  return text;
}

/// A terminal may be gone, and the bar with it.
template <class Print>
void print_if_possible(Print print) {
  try {
    print();
  } catch (const std::system_error&) {
  }
}

}  // namespace

Progress::~Progress() { clear(); }

void Progress::end_step(const StepReport& report) {
  print_if_possible([&] { draw(report); });
}

void Progress::end_epoch(const EpochReport& report) {
  print_if_possible([&] { print(report); });
}

void Progress::draw(const StepReport& report) {
  if (steps_seen_++ == 0) epoch_seconds_ = 0, smooth_loss_ = report.loss;
  epoch_seconds_ += report.seconds;
  smooth_loss_ += 0.02 * (report.loss - smooth_loss_);  // about the last fifty steps
  auto now = std::chrono::steady_clock::now();
  if (!bar_ || now - last_drawn_ < kRedraw) return;
  last_drawn_ = now;
  draw_terminal_line(line(report, terminal_width() - 1));
  drawn_ = true;
}

std::string Progress::line(const StepReport& report, int width) const {
  double per_step = epoch_seconds_ / double(steps_seen_);
  double left = per_step * double(report.steps_in_epoch - report.step_in_epoch +
                                  (report.epochs - report.epoch - 1) * report.steps_in_epoch);
  return fit_line({{0, fmt::format("epoch {}/{}", report.epoch + 1, report.epochs)},
                   {4, bar(report.step_in_epoch, report.steps_in_epoch)},
                   {1, fmt::format("{:>3} %", 100 * report.step_in_epoch / report.steps_in_epoch)},
                   {2, fmt::format("loss {:.4f}", smooth_loss_)},
                   {5, rate(report.examples_done, epoch_seconds_)},
                   {3, fmt::format("{} left", clock_time(left))}},
                  width);
}

std::string Progress::rate(int64_t examples, double seconds) const {
  const double count = double(examples * unit_.in_example);
  return fmt::format("{} {}/s", with_commas(int64_t(count / std::max(seconds, 1e-9))), unit_.name);
}

void Progress::clear() {
  print_if_possible([&] {
    if (std::exchange(drawn_, false)) clear_terminal_line();
  });
}

void Progress::print(const EpochReport& report) {
  clear();
  steps_seen_ = 0;
  if (quiet_) return;
  std::string test = figures("validation", report.validation) + figures("test", report.test);
  fmt::print("epoch {}/{}  loss {:.4f}{}  {:.1f} s  {}{}\n", report.epoch, report.epochs, report.train_loss,
             test, report.seconds, rate(report.examples, report.seconds), report.best ? "  best so far" : "");
  std::fflush(stdout);
}

}  // namespace treadle::cli
