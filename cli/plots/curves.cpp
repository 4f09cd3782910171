#include "cli/run_plots.h"
#include "treadle/formats/file.h"
#include "treadle/plots/line_chart.h"

namespace treadle::cli {
namespace {

/// The curve of a figure; empty where no epoch has it.
Curve curve_of(const PlottedRun& run, const std::string& part, const std::string& figure) {
  Curve curve{part, {}};
  for (const EpochFigures& epoch : run.epochs)
    if (auto found = epoch.values.find(part + "_" + figure); found != epoch.values.end())
      curve.points.push_back({double(epoch.epoch), found->second});
  return curve;
}

void draw_figure(const PlottedRun& run, const std::filesystem::path& folder, const std::string& figure,
                 const std::string& title) {
  LineChart chart{.title = title, .x_label = "epoch", .y_label = figure, .curves = {}, .whole_x = true};
  for (const char* part : {"train", "validation", "test"})
    if (Curve curve = curve_of(run, part, figure); !curve.points.empty())
      chart.curves.push_back(std::move(curve));
  if (!chart.curves.empty()) replace_text(folder / (figure + ".svg"), draw(chart));
}

}  // namespace

void register_plots_curves(RunPlots& plots) {
  plots.add([](const PlottedRun& run, const std::filesystem::path& folder) {
    draw_figure(run, folder, "loss", "Loss");
    draw_figure(run, folder, "accuracy", "Accuracy");
    draw_figure(run, folder, "perplexity", "Perplexity");
  });
}

}  // namespace treadle::cli
