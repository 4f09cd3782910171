/// What `treadle plot` and the end of `treadle train` draw of a run: each file of cli/plots/ registers one,
/// and the build finds it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "treadle/data/dataset.h"
#include "treadle/nn/module.h"
#include "treadle/train/classification/evaluate.h"
#include "treadle/train/epoch_figures.h"

namespace treadle::cli {

/// A run to draw.
struct PlottedRun {
  std::vector<EpochFigures> epochs;
  Module& model;
  Device device;
  PixelNormalization normalization;
  const ImageDataset& test;  ///< empty where the examples are of another kind
  Evaluation evaluation;     ///< of `model` on `test`
};

class RunPlots {
 public:
  /// Writes `folder`/NAME.svg or .png; writes nothing where the run has nothing of the kind.
  using Draw = std::function<void(const PlottedRun& run, const std::filesystem::path& folder)>;
  void add(Draw draw) { plots_.push_back(std::move(draw)); }
  void draw(const PlottedRun& run, const std::filesystem::path& folder) const;

 private:
  std::vector<Draw> plots_;
};

/// All that are registered, into the folder, which is made where it is absent.
void draw_plots(const PlottedRun& run, const std::filesystem::path& folder);

}  // namespace treadle::cli
