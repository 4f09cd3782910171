#include "cli/bench_grid.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/conv_grid.h"
#include "cli/format.h"
#include "cli/settings_options.h"
#include "cli/thread_binding.h"
#include "cli/timing.h"
#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/graph/autograd.h"

namespace treadle::cli {
namespace {

struct GridBench {
  RunSettings settings;
  std::string pass = "forward", only;
  int64_t batch = 32;
  double most_gflop = 1, seconds = 0.4;
  bool json = false;
};

constexpr double kFarSlower = 4;  ///< a way so many times slower than the best on a small batch is left out
constexpr int64_t kTuningRounds = 4, kLeastRounds = 7;

double fastest(const ConvWay& way, int64_t runs) {
  way.run();  // caches of primitives and of memory fill
  return quantile(time_repeatedly(way.run, 0, runs), 0);
}

/// The fastest way of each kind, found in short runs.
struct Finalists {
  const ConvWay* own = nullptr;
  const ConvWay* library = nullptr;
  /// What a program that chooses by measurement takes.
  const ConvWay* chosen = nullptr;
};

/// Whether each way is worth timing on the whole batch: slow ones would take most of the bench's time.
std::vector<bool> promising(const ConvShape& shape, ConvPass pass) {
  const auto ways = conv_ways(shape, std::min<int64_t>(shape.batch, num_threads()), pass);
  std::vector<double> seconds;
  for (const ConvWay& way : ways) seconds.push_back(fastest(way, 2));
  const double least = *std::min_element(seconds.begin(), seconds.end());
  std::vector<bool> result;
  for (size_t i = 0; i < ways.size(); ++i) {
    // Of each kind at least the best stays.
    bool best_of_kind = true;
    for (size_t j = 0; j < ways.size(); ++j)
      best_of_kind = best_of_kind && (ways[j].library != ways[i].library || seconds[i] <= seconds[j]);
    result.push_back(best_of_kind || seconds[i] < kFarSlower * least);
  }
  return result;
}

/// Rounds over all ways, so that a disturbance does not hit one of them alone.
Finalists finalists_of(const std::vector<ConvWay>& ways, const std::vector<bool>& considered) {
  std::vector<double> seconds(ways.size(), INFINITY);
  for (int64_t round = 0; round < kTuningRounds; ++round)
    for (size_t i = 0; i < ways.size(); ++i)
      if (considered[i]) seconds[i] = std::min(seconds[i], fastest(ways[i], 1));
  Finalists best;
  double own = INFINITY, library = INFINITY;
  for (size_t i = 0; i < ways.size(); ++i) {
    double& least = ways[i].library ? library : own;
    if (seconds[i] < least) least = seconds[i], (ways[i].library ? best.library : best.own) = &ways[i];
  }
  best.chosen = own <= library ? best.own : best.library;
  return best;
}

struct GridRow {
  ConvShape shape;
  std::string own, library, chosen;
  double own_seconds, library_seconds;  ///< medians of interleaved runs
  double own_fast, library_fast;        ///< what a tenth of the runs undercut
  double own_ratio() const { return library_seconds / own_seconds; }
  double chosen_ratio() const { return chosen == library ? 1 : own_ratio(); }
};

GridRow measure(const ConvShape& shape, ConvPass pass, double budget) {
  const auto considered = promising(shape, pass);
  const auto ways = conv_ways(shape, shape.batch, pass);
  const Finalists best = finalists_of(ways, considered);
  require<DeviceAbsent>(best.library, "oneDNN takes no part in {}: is its plugin there?", shape.name());
  require<ValueError>(best.own, "no variant of Treadle's own takes {}", shape.name());
  std::vector<double> own, library;
  double total = 0;
  while (total < budget || int64_t(own.size()) < kLeastRounds) {
    own.push_back(time_repeatedly(best.own->run, 0, 1)[0]);
    library.push_back(time_repeatedly(best.library->run, 0, 1)[0]);
    total += own.back() + library.back();
  }
  return {shape,
          best.own->name,
          best.library->name,
          best.chosen->name,
          quantile(own, 0.5),
          quantile(library, 0.5),
          quantile(own, 0.1),
          quantile(library, 0.1)};
}

double geometric_mean(const std::vector<GridRow>& rows, double (GridRow::*ratio)() const) {
  double sum = 0;
  for (const GridRow& row : rows) sum += std::log((row.*ratio)());
  return std::exp(sum / double(rows.size()));
}

nlohmann::json json_of(const std::vector<GridRow>& rows, const std::string& pass) {
  nlohmann::json list = nlohmann::json::array();
  for (const GridRow& row : rows)
    list.push_back({{"shape", row.shape.name()},
                    {"operations", row.shape.operations()},
                    {"own", row.own},
                    {"own_seconds_median", row.own_seconds},
                    {"own_seconds_p10", row.own_fast},
                    {"onednn_seconds_p10", row.library_fast},
                    {"onednn", row.library},
                    {"onednn_seconds_median", row.library_seconds},
                    {"chosen", row.chosen},
                    {"own_ratio", row.own_ratio()},
                    {"chosen_ratio", row.chosen_ratio()}});
  return {{"pass", pass},
          {"threads", num_threads()},
          {"shapes", list},
          {"geometric_mean_own", geometric_mean(rows, &GridRow::own_ratio)},
          {"geometric_mean_chosen", geometric_mean(rows, &GridRow::chosen_ratio)}};
}

std::vector<std::string> text_of(const GridRow& row) {
  return {row.shape.name(),
          row.own,
          row.library,
          fmt::format("{:.1f}", 1e6 * row.own_seconds),
          fmt::format("{:.1f}", 1e6 * row.library_seconds),
          fmt::format("{:.2f}×", row.own_ratio()),
          row.chosen == row.library ? "oneDNN" : "own",
          fmt::format("{:.2f}×", row.chosen_ratio())};
}

void print(const std::vector<GridRow>& rows, const std::string& pass) {
  std::vector<std::vector<std::string>> text{
      {"shape", "own", "oneDNN", "own µs", "oneDNN µs", "own ratio", "chosen", "chosen ratio"}};
  double least = INFINITY;
  for (const GridRow& row : rows) text.push_back(text_of(row)), least = std::min(least, row.chosen_ratio());
  fmt::print("{} of {} shapes, {} threads; ratio: time of oneDNN / time\n{}", pass, rows.size(),
             num_threads(), table(text, {3, 4, 5, 7}));
  fmt::print("geometric mean: own {:.2f}×, chosen {:.2f}×; least chosen {:.2f}×\n",
             geometric_mean(rows, &GridRow::own_ratio), geometric_mean(rows, &GridRow::chosen_ratio), least);
}

int run(const GridBench& bench) {
  Device device = apply_run_settings(bench.settings);
  require<ValueError>(device == kCpu, "the grid is timed on cpu only");
  bind_threads();
  NoGrad no_grad;
  const ConvPass pass = bench.pass == "forward"          ? ConvPass::forward
                        : bench.pass == "input_gradient" ? ConvPass::input_gradient
                                                         : ConvPass::weight_gradient;
  std::vector<GridRow> rows;
  for (const ConvShape& shape : conv_grid(bench.batch, 1e9 * bench.most_gflop, num_threads())) {
    if (shape.name().find(bench.only) == std::string::npos) continue;
    rows.push_back(measure(shape, pass, bench.seconds));
    if (on_terminal()) fmt::print(stderr, "{}: {:.2f}×\n", shape.name(), rows.back().own_ratio());
  }
  require<ValueError>(!rows.empty(), "no shape's name holds '{}'", bench.only);
  if (bench.json)
    fmt::print("{}\n", json_of(rows, bench.pass).dump());
  else
    print(rows, bench.pass);
  return kSuccess;
}

}  // namespace

Action add_grid_bench(CLI::App& app) {
  auto bench = std::make_shared<GridBench>();
  app.add_option("--pass", bench->pass, "forward, input_gradient or weight_gradient")
      ->check(CLI::IsMember({"forward", "input_gradient", "weight_gradient"}))
      ->capture_default_str();
  app.add_option("--only", bench->only, "Only shapes whose name holds this text, such as 'pool'");
  app.add_option("--batch", bench->batch, "Images per call")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--most-gflop", bench->most_gflop, "Fewer images where a call would need more operations")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seconds", bench->seconds, "Time for the interleaved runs of each shape")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_run_settings(app, bench->settings);
  app.add_flag("--json", bench->json, "One JSON object on the last line");
  app.footer("Example: treadle bench grid --only pool");
  return [bench] { return run(*bench); };
}

}  // namespace treadle::cli
