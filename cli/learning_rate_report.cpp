#include "cli/learning_rate_report.h"

#include <fmt/format.h>

#include "treadle/formats/file.h"
#include "treadle/plots/line_chart.h"

namespace treadle::cli {

void write_curve(const LearningRateCurve& curve, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::string text = "learning_rate,loss\n";
  Curve drawn{"smoothed loss", {}};
  for (size_t i = 0; i < curve.rates.size(); ++i) {
    text += fmt::format("{},{}\n", curve.rates[i], curve.losses[i]);
    drawn.points.push_back({curve.rates[i], curve.losses[i]});
  }
  replace_text(folder / "learning_rate.csv", text);
  if (!drawn.points.empty())
    replace_text(folder / "learning_rate.svg",
                 draw({"Loss of steps with a rising learning rate", "learning rate", "loss", {drawn}, true}));
}

std::string suggestion_text(const LearningRateCurve& curve) {
  if (curve.suggestion == 0) return "the loss falls at no learning rate: none can be suggested";
  return fmt::format("the loss falls fastest at --lr {:.2g}", curve.suggestion);
}

Json json_of(const LearningRateCurve& curve) {
  return {{"suggestion", curve.suggestion}, {"learning_rates", curve.rates}, {"losses", curve.losses}};
}

}  // namespace treadle::cli
