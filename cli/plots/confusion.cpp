#include "cli/run_plots.h"
#include "treadle/formats/file.h"
#include "treadle/plots/confusion_chart.h"

namespace treadle::cli {

void register_plots_confusion(RunPlots& plots) {
  plots.add([](const PlottedRun& run, const std::filesystem::path& folder) {
    if (run.test.classes.empty()) return;
    replace_text(folder / "confusion.svg", draw_confusion(run.test.classes, run.evaluation.confusion));
  });
}

}  // namespace treadle::cli
