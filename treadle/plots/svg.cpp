#include "treadle/plots/svg.h"

#include <fmt/format.h>

namespace treadle {
namespace {

std::string escaped(std::string_view text) {
  std::string safe;
  for (char c : text)
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  return safe;
}

/// RFC 4648.
std::string base64(const std::vector<std::byte>& bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t begin = 0; begin < bytes.size(); begin += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - begin);
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i) group = group << 8 | (i < count ? uint32_t(bytes[begin + i]) : 0);
    for (size_t i = 0; i < 4; ++i) text += i <= count ? kDigits[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

constexpr std::string_view name_of(Anchor anchor) {
  return anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
}

}  // namespace

Svg::Svg(double width, double height)
    : body_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                        "viewBox=\"0 0 {0} {1}\" font-family=\"Helvetica, Arial, sans-serif\">\n",
                        width, height)) {
  rectangle(0, 0, width, height, "white");
}

void Svg::rectangle(double x, double y, double width, double height, std::string_view fill,
                    std::string_view stroke) {
  body_ += fmt::format(
      "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\" stroke=\"{}\"/>\n", x,
      y, width, height, fill, stroke);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view colour, double width) {
  body_ += fmt::format(
      "<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"{}\" "
      "stroke-width=\"{}\"/>\n",
      x1, y1, x2, y2, colour, width);
}

void Svg::curve(std::string_view points, std::string_view colour, double width) {
  body_ += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" "
      "stroke-linejoin=\"round\"/>\n",
      points, colour, width);
}

void Svg::circle(double x, double y, double radius, std::string_view fill) {
  body_ += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{}\" fill=\"{}\"/>\n", x, y, radius, fill);
}

void Svg::text(double x, double y, std::string_view text, const TextStyle& style) {
  const std::string turn =
      style.turned == 0 ? "" : fmt::format(" transform=\"rotate({} {:.2f} {:.2f})\"", style.turned, x, y);
  body_ += fmt::format(
      "<text x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"{}\" fill=\"{}\" "
      "text-anchor=\"{}\"{}>{}</text>\n",
      x, y, style.size, style.colour, name_of(style.anchor), turn, escaped(text));
}

void Svg::image(double x, double y, double width, double height, const Image& image) {
  body_ += fmt::format(
      "<image x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
      "style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>\n",
      x, y, width, height, base64(png_bytes(image)));
}

}  // namespace treadle
