#include "cli/run_plots.h"

#include "treadle/graph/autograd.h"

namespace treadle::cli {

void register_all(RunPlots& plots);  // generated from the files of cli/plots/

void RunPlots::draw(const PlottedRun& run, const std::filesystem::path& folder) const {
  for (const Draw& draw : plots_) draw(run, folder);
}

void draw_plots(const PlottedRun& run, const std::filesystem::path& folder) {
  RunPlots plots;
  register_all(plots);
  std::filesystem::create_directories(folder);
  NoGrad no_grad;
  const bool training = run.model.is_training();
  run.model.eval();
  plots.draw(run, folder);
  run.model.train(training);
}

}  // namespace treadle::cli
