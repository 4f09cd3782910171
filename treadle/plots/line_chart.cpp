#include "treadle/plots/line_chart.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "treadle/core/error.h"
#include "treadle/plots/svg.h"

namespace treadle {
namespace {

constexpr double kWidth = 640, kHeight = 400;
constexpr double kLeft = 70, kRight = 20, kTop = 44, kBottom = 52;
/// Okabe and Ito, Color Universal Design, 2008: told apart by all eyes.
constexpr std::array<std::string_view, 7> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#000000"};

/// Maps a range of numbers to a range of pixels.
struct Axis {
  double low = INFINITY, high = -INFINITY, first_pixel = 0, last_pixel = 0;

  void cover(double value) { low = std::min(low, value), high = std::max(high, value); }
  /// A range of its own where all numbers are equal, and else a little room at both ends.
  void widen(double share) {
    const double room = high > low ? (high - low) * share : std::max(std::abs(low) * 0.1, 0.5);
    low -= room, high += room;
  }
  double at(double value) const {
    return first_pixel + (value - low) / (high - low) * (last_pixel - first_pixel);
  }
};

class Drawing {
 public:
  explicit Drawing(const LineChart& chart) : chart_(chart), svg_(kWidth, kHeight) {
    x_.first_pixel = kLeft, x_.last_pixel = kWidth - kRight;
    y_.first_pixel = kHeight - kBottom, y_.last_pixel = kTop;
    for (const Curve& curve : chart.curves)
      for (auto [x, y] : finite(curve)) x_.cover(x), y_.cover(y);
    require<ValueError>(x_.low <= x_.high, "draw: the chart '{}' has no points", chart.title);
    if (x_.low == x_.high) x_.widen(0);
    y_.widen(0.05);
  }

  std::string draw() {
    frame();
    for (size_t i = 0; i < chart_.curves.size(); ++i) draw(chart_.curves[i], kColours[i % kColours.size()]);
    legend();
    return svg_.finished();
  }

 private:
  std::vector<std::pair<double, double>> finite(const Curve& curve) const {
    std::vector<std::pair<double, double>> points;
    for (auto [x, y] : curve.points) {
      if (chart_.logarithmic_x) x = std::log10(x);
      if (std::isfinite(x) && std::isfinite(y)) points.push_back({x, y});
    }
    return points;
  }

  void frame() {
    for (double y : round_steps(y_.low, y_.high, 6)) {
      svg_.line(kLeft, y_.at(y), kWidth - kRight, y_.at(y), "#e4e4e4");
      svg_.text(kLeft - 8, y_.at(y) + 4, fmt::format("{:.4g}", y), {.anchor = Anchor::end});
    }
    for (double x : round_steps(x_.low, x_.high, 8)) {
      if (chart_.whole_x && x != std::floor(x)) continue;
      svg_.line(x_.at(x), kHeight - kBottom, x_.at(x), kHeight - kBottom + 5, "#333333");
      svg_.text(x_.at(x), kHeight - kBottom + 18,
                fmt::format("{:.4g}", chart_.logarithmic_x ? std::pow(10, x) : x),
                {.anchor = Anchor::middle});
    }
    svg_.line(kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom, "#333333");
    svg_.text(kLeft, 26, chart_.title, {.size = 15});
    svg_.text((kLeft + kWidth - kRight) / 2, kHeight - 12, chart_.x_label, {.anchor = Anchor::middle});
    svg_.text(18, (kTop + kHeight - kBottom) / 2, chart_.y_label, {.anchor = Anchor::middle, .turned = -90});
  }

  void draw(const Curve& curve, std::string_view colour) {
    std::string points;
    for (auto [x, y] : finite(curve)) points += fmt::format("{:.2f},{:.2f} ", x_.at(x), y_.at(y));
    svg_.curve(points, colour);
    const auto drawn = finite(curve);
    if (drawn.size() > 30) return;
    for (auto [x, y] : drawn) svg_.circle(x_.at(x), y_.at(y), 2.5, colour);
  }

  /// From the right, in the line of the title.
  void legend() {
    double right = kWidth - kRight;
    for (size_t i = chart_.curves.size(); i-- > 0;) {
      const std::string& name = chart_.curves[i].name;
      svg_.text(right, 26, name, {.anchor = Anchor::end});
      right -= 7.0 * double(name.size()) + 8;
      svg_.line(right - 18, 22, right, 22, kColours[i % kColours.size()], 2.5);
      right -= 34;
    }
  }

  const LineChart& chart_;
  Svg svg_;
  Axis x_, y_;
};

}  // namespace

std::vector<double> round_steps(double low, double high, int count) {
  const double wanted = (high - low) / count, power = std::pow(10, std::floor(std::log10(wanted)));
  double step = 10 * power;
  for (double factor : {5.0, 2.0, 1.0})
    if (factor * power >= wanted) step = factor * power;
  std::vector<double> steps;
  for (double k = std::ceil(low / step); k * step <= high; ++k) steps.push_back(k * step);
  return steps;
}

std::string draw(const LineChart& chart) { return Drawing(chart).draw(); }

}  // namespace treadle
