#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "cli/bench/conv_grid.h"
#include "cli/bench/timing.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/settings_options.h"
#include "cli/standard_output.h"
#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/graph/autograd.h"

namespace treadle::cli {
namespace {

struct GridBench : RunSettings {
  std::string pass = "forward", only;
  int64_t batch = 32;
  double most_gflop = 1, seconds = 0.4, density = 0.25;
  bool json = false;

  static void describe(auto& field) {
    using O = GridBench;
    field("pass", &O::pass, "forward, input_gradient or weight_gradient",
          {.check = one_of({"forward", "input_gradient", "weight_gradient"})});
    field("only", &O::only, "Only shapes whose name holds this text, such as 'pool'");
    field("batch", &O::batch, "Images per call", {.check = whole_number(1)});
    field("most_gflop", &O::most_gflop, "Fewer images where a call would need more operations",
          {.check = positive_number()});
    field("seconds", &O::seconds, "Time for the interleaved runs of each shape",
          {.check = positive_number()});
    field("density", &O::density, "Share of the pooled gradients that flow on; the rest is closed by ReLU",
          {.check = number_between(0, 1)});
    RunSettings::describe(field);
    field("json", &O::json, "One JSON object on the last line");
  }
};

constexpr double kFarSlower = 4;  ///< a way so many times slower than the best on a small batch is left out
constexpr int64_t kTuningRounds = 6, kLeastRounds = 7;
constexpr ConvKind kKinds[] = {ConvKind::own, ConvKind::library, ConvKind::program};

double fastest(const ConvWay& way, int64_t runs) {
  way.run();  // caches of primitives and of memory fill
  return quantile(time_repeatedly(way.run, 0, runs), 0);
}

/// The fastest way of each kind.
struct Finalists {
  const ConvWay* ways[std::size(kKinds)] = {};
  double seconds[std::size(kKinds)] = {INFINITY, INFINITY, INFINITY};

  void offer(const ConvWay& way, double time) {
    if (time < seconds[int(way.kind)]) seconds[int(way.kind)] = time, ways[int(way.kind)] = &way;
  }
};

/// Whether each way is worth timing on the whole batch: slow ones would take most of the bench's time.
std::vector<bool> promising(const ConvShape& shape, ConvPass pass, double density) {
  const auto ways = conv_ways(shape, std::min<int64_t>(shape.batch, num_threads()), pass, density);
  std::vector<double> seconds(ways.size(), 0);
  Finalists best;
  for (size_t i = 0; i < ways.size(); ++i)
    if (ways[i].kind != ConvKind::program) seconds[i] = fastest(ways[i], 2), best.offer(ways[i], seconds[i]);
  const double least = std::min(best.seconds[0], best.seconds[1]);
  std::vector<bool> result;
  for (size_t i = 0; i < ways.size(); ++i)
    result.push_back(ways[i].kind == ConvKind::program || seconds[i] < kFarSlower * least ||
                     best.ways[int(ways[i].kind)] == &ways[i]);
  return result;
}

/// Rounds over all ways, so that a disturbance does not hit one of them alone.
Finalists finalists_of(const std::vector<ConvWay>& ways, const std::vector<bool>& considered) {
  for (size_t i = 0; i < ways.size(); ++i)
    for (int call = 0; call < 2 && considered[i]; ++call) ways[i].run();  // a program records, then measures
  Finalists best;
  for (int64_t round = 0; round < kTuningRounds; ++round)
    for (size_t i = 0; i < ways.size(); ++i)
      if (considered[i]) best.offer(ways[i], fastest(ways[i], 1));
  return best;
}

struct GridRow {
  ConvShape shape;
  /// By kind: the finalists' names, medians of interleaved runs, and what a tenth of the runs undercut.
  std::string names[std::size(kKinds)];
  double medians[std::size(kKinds)], fast[std::size(kKinds)];

  double ratio(ConvKind kind) const { return fast[int(ConvKind::library)] / fast[int(kind)]; }
  double own_ratio() const { return ratio(ConvKind::own); }
  double chosen_ratio() const { return ratio(ConvKind::program); }
};

std::string name_of(const ConvWay& way) { return way.name_after_run ? way.name_after_run() : way.name; }

GridRow measure(const ConvShape& shape, ConvPass pass, const GridBench& bench) {
  const auto considered = promising(shape, pass, bench.density);
  const auto ways = conv_ways(shape, shape.batch, pass, bench.density);
  const Finalists best = finalists_of(ways, considered);
  require<DeviceAbsent>(best.ways[int(ConvKind::library)], "oneDNN takes no part in {}: is its plugin there?",
                        shape.name());
  require<ValueError>(best.ways[int(ConvKind::own)], "no variant of Treadle's own takes {}", shape.name());
  std::vector<double> times[std::size(kKinds)];
  double total = 0;
  while (total < bench.seconds || int64_t(times[0].size()) < kLeastRounds)
    for (ConvKind kind : kKinds) {
      times[int(kind)].push_back(time_repeatedly(best.ways[int(kind)]->run, 0, 1)[0]);
      total += times[int(kind)].back();
    }
  GridRow row{shape, {}, {}, {}};
  for (ConvKind kind : kKinds) {
    row.names[int(kind)] = name_of(*best.ways[int(kind)]);
    row.medians[int(kind)] = quantile(times[int(kind)], 0.5);
    row.fast[int(kind)] = quantile(times[int(kind)], 0.1);
  }
  return row;
}

double geometric_mean(const std::vector<GridRow>& rows, double (GridRow::*ratio)() const) {
  double sum = 0;
  for (const GridRow& row : rows) sum += std::log((row.*ratio)());
  return std::exp(sum / double(rows.size()));
}

Json json_of(const GridRow& row) {
  Json object{{"shape", row.shape.name()},
              {"operations", row.shape.operations()},
              {"own_ratio", row.own_ratio()},
              {"chosen_ratio", row.chosen_ratio()}};
  constexpr const char* names[] = {"own", "onednn", "chosen"};
  for (ConvKind kind : kKinds) {
    const std::string name = names[int(kind)];
    object.add(name, row.names[int(kind)]);
    object.add(name + "_seconds_median", row.medians[int(kind)]);
    object.add(name + "_seconds_p10", row.fast[int(kind)]);
  }
  return object;
}

Json json_of(const std::vector<GridRow>& rows, const GridBench& bench) {
  std::vector<Json> list;
  for (const GridRow& row : rows) list.push_back(json_of(row));
  return {{"pass", bench.pass},
          {"density", bench.density},
          {"threads", num_threads()},
          {"shapes", list},
          {"geometric_mean_own", geometric_mean(rows, &GridRow::own_ratio)},
          {"geometric_mean_chosen", geometric_mean(rows, &GridRow::chosen_ratio)}};
}

std::vector<std::string> text_of(const GridRow& row) {
  std::vector<std::string> cells{row.shape.name()};
  for (const std::string& name : row.names) cells.push_back(name);
  for (double seconds : row.fast) cells.push_back(fmt::format("{:.1f}", 1e6 * seconds));
  cells.push_back(fmt::format("{:.2f}×", row.own_ratio()));
  cells.push_back(fmt::format("{:.2f}×", row.chosen_ratio()));
  return cells;
}

std::string heading(const std::vector<GridRow>& rows, const GridBench& bench) {
  const bool pooled =
      std::any_of(rows.begin(), rows.end(), [](const GridRow& row) { return row.shape.pool; });
  std::string text = fmt::format("{} of {} shapes, {} threads; times at p10, ratio: time of oneDNN / time",
                                 bench.pass, rows.size(), num_threads());
  if (bench.pass != "forward" && pooled)
    text += fmt::format("; {:.0f}% of the pooled gradients flow on", 100 * bench.density);
  return text;
}

void print(const std::vector<GridRow>& rows, const GridBench& bench) {
  std::vector<std::vector<std::string>> text{
      {"shape", "own", "oneDNN", "chosen", "own µs", "oneDNN µs", "chosen µs", "own ratio", "chosen ratio"}};
  double least = INFINITY;
  for (const GridRow& row : rows) text.push_back(text_of(row)), least = std::min(least, row.chosen_ratio());
  fmt::print("{}\n{}", heading(rows, bench), table(text, {4, 5, 6, 7, 8}));
  fmt::print("geometric mean: own {:.2f}×, chosen {:.2f}×; least chosen {:.2f}×\n",
             geometric_mean(rows, &GridRow::own_ratio), geometric_mean(rows, &GridRow::chosen_ratio), least);
}

/// While it lives, programs measure their variants and keep nothing: a choice made for another density, or on
/// a disturbed machine, would be taken otherwise.
class FreshChoices {
 public:
  FreshChoices() : folder_(std::filesystem::temp_directory_path() / "treadle_grid_XXXXXX") {
    std::string name = folder_.string();
    require<FileError>(::mkdtemp(name.data()), "cannot make a folder like {}", folder_.string());
    folder_ = name;
    ::setenv("TREADLE_CACHE", name.c_str(), 1);
  }
  ~FreshChoices() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  FreshChoices(const FreshChoices&) = delete;
  FreshChoices& operator=(const FreshChoices&) = delete;

 private:
  std::filesystem::path folder_;
};

int run(const GridBench& bench) {
  const FreshChoices fresh;
  Device device = apply_run_settings(bench);
  require<ValueError>(device == kCpu, "the grid is timed on cpu only");
  bind_threads();
  NoGrad no_grad;
  const ConvPass pass = bench.pass == "forward"          ? ConvPass::forward
                        : bench.pass == "input_gradient" ? ConvPass::input_gradient
                                                         : ConvPass::weight_gradient;
  std::vector<GridRow> rows;
  for (const ConvShape& shape : conv_grid(bench.batch, 1e9 * bench.most_gflop, num_threads())) {
    if (shape.name().find(bench.only) == std::string::npos) continue;
    rows.push_back(measure(shape, pass, bench));
    if (on_terminal()) print_error(fmt::format("{}: {:.2f}×", shape.name(), rows.back().chosen_ratio()));
  }
  require<ValueError>(!rows.empty(), "no shape's name holds '{}'", bench.only);
  if (bench.json)
    print_json(json_of(rows, bench));
  else
    print(rows, bench);
  return kSuccess;
}

}  // namespace

void register_bench_grid(Commands& commands) {
  commands.add({.place = 5,
                .name = "bench grid",
                .description = "Convolutions of many shapes, against oneDNN alone",
                .example = "treadle bench grid --only pool --pass input_gradient --density 1"},
               run);
}

}  // namespace treadle::cli
