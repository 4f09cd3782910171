/// Curves over a common axis, as a drawing for reports.
#pragma once  // public

#include <string>
#include <utility>
#include <vector>

#include "treadle/core/export.h"

namespace treadle {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< x and y, by rising x
};

struct LineChart {
  std::string title, x_label, y_label;
  std::vector<Curve> curves;
  bool logarithmic_x = false;  ///< then all x are positive
  bool whole_x = false;        ///< numbers at the axis are whole ones
};

/// An SVG. Points that are not finite are left out; a curve of one point is a dot. Throws ValueError when
/// nothing is left.
TREADLE_API std::string draw(const LineChart& chart);

/// Round numbers, about `count`, that lie from `low` to `high`: multiples of 1, 2 or 5 times a power of ten.
TREADLE_API std::vector<double> round_steps(double low, double high, int count);

}  // namespace treadle
