#include <fmt/core.h>

#include <chrono>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/interruption.h"
#include "cli/option_checks.h"
#include "cli/standard_output.h"
#include "cli/terminal_line.h"
#include "treadle/core/nearest_name.h"
#include "treadle/data/dataset.h"
#include "treadle/data/download.h"

namespace treadle::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string name, to;
  std::vector<std::string> mirror;
  int64_t patience = DownloadOptions().patience;
  bool json = false, quiet = false;

  static void describe(auto& field) {
    using O = Options;
    field("name", &O::name, joined_names(dataset_names()), {.on_command_line = "NAME", .required = true});
    field("to", &O::to, "The folder for the files; default: the first in which `treadle datasets` looks");
    field("mirror", &O::mirror,
          "A folder of the network to ask instead of those that are known; may be repeated");
    field("patience", &O::patience, "Seconds without an answer before a mirror is given up",
          {.check = whole_number(1, 3600)});
    field("json", &O::json, "One JSON object on the last line");
    field("quiet", &O::quiet, "Print nothing but errors and --json");
  }
};

/// The line on a terminal, drawn ten times a second.
class DownloadLine {
 public:
  explicit DownloadLine(bool shown) : shown_(shown) {}
  ~DownloadLine() { clear(); }

  void draw(const DownloadProgress& progress) {
    const auto now = Clock::now();
    if (progress.file != file_) file_ = progress.file, begun_ = now, first_ = progress.bytes;
    if (!shown_ || now - drawn_at_ < std::chrono::milliseconds(100)) return;
    drawn_at_ = now, drawn_ = true;
    draw_terminal_line(line(progress, std::chrono::duration<double>(now - begun_).count()));
  }

  void clear() {
    if (drawn_) clear_terminal_line();
    drawn_ = false;
  }

 private:
  std::string line(const DownloadProgress& p, double seconds) const {
    const double rate = double(p.bytes - first_) / std::max(seconds, 1e-3);
    std::vector<LinePart> parts{{0, p.file}, {1, byte_size(double(p.bytes))}};
    if (p.expected > 0) {
      parts.push_back({2, fmt::format("{:>3} %", 100 * p.bytes / p.expected)});
      parts.push_back({4, clock_time(double(p.expected - p.bytes) / std::max(rate, 1.0)) + " left"});
    }
    parts.push_back({3, byte_size(rate) + "/s"});
    return fit_line(parts, terminal_width() - 1);
  }

  bool shown_, drawn_ = false;
  std::string file_;
  uint64_t first_ = 0;
  Clock::time_point begun_, drawn_at_;
};

void report(const Options& options, const DownloadResult& result) {
  if (options.json)
    print_json(Json{{"name", options.name},
                    {"folder", result.folder.string()},
                    {"files", result.files},
                    {"unchecked", result.unchecked}});
  if (options.quiet || options.json) return;
  fmt::print("{} is in {}{}\n", options.name, result.folder.string(),
             result.files.empty() ? "; nothing was missing" : "");
  if (!result.unchecked.empty()) fmt::print("no checksum is known of {}\n", joined_names(result.unchecked));
}

int run(const Options& options) {
  DownloadLine line(on_terminal() && !options.quiet);
  DownloadOptions download{options.to, options.mirror, int(options.patience), stop_on_signals()};
  download.on_progress = [&](const DownloadProgress& progress) { line.draw(progress); };
  download.on_note = [&](const std::string& text) {
    line.clear();
    if (!options.quiet) print_error("treadle: " + text);
  };
  const DownloadResult result = download_dataset(options.name, download);
  line.clear();
  if (result.interrupted) {
    print_error(
        fmt::format("treadle: interrupted; what has come is kept in {}. The same command goes on with it",
                    result.folder.string()));
    return kInterrupted;
  }
  report(options, result);
  return kSuccess;
}

}  // namespace

void register_datasets_get(Commands& commands) {
  commands.add(
      {.place = 1,
       .name = "datasets get",
       .description = "Download a data set: goes on where it was interrupted, and checks what has come",
       .example = "treadle datasets get mnist"},
      run);
}

}  // namespace treadle::cli
