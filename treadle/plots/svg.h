/// Svg: vector drawings as text, https://www.w3.org/TR/SVG11.
#pragma once  // public

#include <string>
#include <string_view>

#include "treadle/core/export.h"
#include "treadle/formats/image.h"

namespace treadle {

/// Where a text's point lies in it.
enum class Anchor { start, middle, end };

struct TextStyle {
  Anchor anchor = Anchor::start;
  double size = 12;
  std::string_view colour = "#333333";
  double turned = 0;  ///< degrees, clockwise
};

/// A white page of so many pixels. What is added later lies above; y grows downwards.
class TREADLE_API Svg {
 public:
  Svg(double width, double height);

  void rectangle(double x, double y, double width, double height, std::string_view fill,
                 std::string_view stroke = "none");
  void line(double x1, double y1, double x2, double y2, std::string_view colour, double width = 1);
  /// `points` as "x,y x,y …".
  void curve(std::string_view points, std::string_view colour, double width = 1.8);
  void circle(double x, double y, double radius, std::string_view fill);
  void text(double x, double y, std::string_view text, const TextStyle& style = {});
  /// The image itself is inside, each pixel with sharp edges.
  void image(double x, double y, double width, double height, const Image& image);

  std::string finished() const { return body_ + "</svg>\n"; }

 private:
  std::string body_;
};

}  // namespace treadle
