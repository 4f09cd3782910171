/// Charts: round numbers at the axes, points where they belong, and what cannot be drawn.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/formats/temporary_folder.h"
#include "treadle/core/error.h"
#include "treadle/plots/confusion_chart.h"
#include "treadle/plots/line_chart.h"
#include "treadle/plots/planes.h"
#include "treadle/plots/svg.h"

namespace treadle {
namespace {

int64_t count_of(const std::string& text, const std::string& part) {
  int64_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(RoundSteps, AreMultiplesOfOneTwoOrFive) {
  EXPECT_EQ(round_steps(0, 1, 5), (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  EXPECT_EQ(round_steps(1, 40, 8), (std::vector<double>{5, 10, 15, 20, 25, 30, 35, 40}));
  EXPECT_EQ(round_steps(-3, 3, 3), (std::vector<double>{-2, 0, 2}));
}

TEST(Charts, ACurveGoesThroughItsPoints) {
  const std::string svg = draw({"Loss & more", "epoch", "loss", {{"train", {{1, 0}, {2, NAN}, {3, 10}}}}});
  EXPECT_NE(svg.find("Loss &amp; more"), std::string::npos);
  // The page is 640×400 with margins of 70, 20, 44 and 52, and a twentieth of the range above and below.
  EXPECT_NE(svg.find("<polyline points=\"70.00,334.18 620.00,57.82 \""), std::string::npos) << svg;
  EXPECT_EQ(count_of(svg, "<circle"), 2);
}

TEST(Charts, ALogarithmicAxisHasEvenPowers) {
  const std::string svg = draw({"", "", "", {{"a", {{1, 0}, {10, 0}, {100, 0}}}}, true});
  EXPECT_NE(svg.find("points=\"70.00,196.00 345.00,196.00 620.00,196.00 \""), std::string::npos) << svg;
}

TEST(Charts, OnePointIsEnoughAndNoneIsNot) {
  EXPECT_EQ(count_of(draw({"", "", "", {{"a", {{1, 5}}}}}), "<circle"), 1);
  expect_error<ValueError>([] { draw({"empty", "", "", {{"a", {{1, NAN}}}}}); }, {"'empty' has no points"});
}

TEST(Charts, AConfusionMatrixIsDarkWhereItsRowsAre) {
  const std::string svg = draw_confusion({"cat", "dog"}, {{4, 0}, {1, 3}});
  EXPECT_EQ(count_of(svg, "fill=\"#084594\""), 1);  // all cats
  EXPECT_EQ(count_of(svg, ">4</text>"), 1);
  EXPECT_EQ(count_of(svg, ">0</text>"), 0);
  EXPECT_EQ(count_of(svg, ">dog</text>"), 2);
  expect_error<ValueError>([] { draw_confusion({"a", "b"}, {{1, 2}, {3}}); }, {"row 1 has 1 of 2"});
  expect_error<ValueError>([] { draw_confusion({"a"}, {}); }, {"1 names for 0 rows"});
}

TEST(Charts, AnImageIsInside) {
  Svg svg(10, 10);
  svg.image(0, 0, 10, 10, {1, 1, 1, {7}});
  EXPECT_NE(svg.finished().find("base64,iVBORw0KGgoAAAAN"),
            std::string::npos);  // "\x89PNG\r\n\x1a\n" and "IHDR"'s length
  EXPECT_TRUE(svg.finished().ends_with("</svg>\n"));
}

TEST(Planes, ZeroIsGreyOrTheLeastIsBlack) {
  const float values[] = {-2, 0, 1, 2, 0, 0};
  const auto signed_images = images_of_planes(values, 1, 3, 1, true);
  EXPECT_EQ(signed_images[0].pixels, (std::vector<uint8_t>{0, 128, 191}));
  EXPECT_EQ(signed_images[1].pixels, (std::vector<uint8_t>{255, 128, 128}));
  EXPECT_EQ(images_of_planes(values, 1, 3, 1, false)[0].pixels, (std::vector<uint8_t>{0, 170, 255}));
  EXPECT_EQ(images_of_planes(values, 1, 2, 3, false)[0].pixels,
            (std::vector<uint8_t>{0, 191, 128, 128, 255, 128}));
  const float equal[] = {0, 0};
  EXPECT_EQ(images_of_planes(equal, 1, 2, 1, false)[0].pixels, (std::vector<uint8_t>{128, 128}));
  expect_error<ValueError>([&] { images_of_planes(values, 2, 2, 1, true); }, {"6 values are no images of 4"});
}

}  // namespace
}  // namespace treadle
