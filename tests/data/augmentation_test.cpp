/// Each kind of augmentation: its pixels against torchvision's or a formula, what it leaves as it is, how its
/// random numbers are spread, and what is refused.
#include "treadle/data/augmentations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tests/folders.h"
#include "tests/goldens/golden_numbers.h"
#include "treadle/data/affine_map.h"
#include "treadle/data/augment/affine.h"
#include "treadle/data/augment/crop.h"
#include "treadle/data/augment/cutmix.h"
#include "treadle/data/augment/cutout.h"
#include "treadle/data/augment/erase.h"
#include "treadle/data/augment/flip.h"
#include "treadle/data/augment/jitter.h"
#include "treadle/data/augment/mixup.h"
#include "treadle/data/augment/rotate.h"
#include "treadle/data/augment/vertical_flip.h"

namespace treadle {
namespace {

constexpr int kDraws = 2000;

/// An image with room, and what it is now.
struct TestImage {
  explicit TestImage(const Shape& shape, uint32_t seed = 1)
      : first(size_t(shape.numel())), second(first.size()), example{shape, first.data(), second.data()} {
    for (size_t i = 0; i < first.size(); ++i) first[i] = goldens::uniform(seed, uint32_t(i));
  }
  TestImage(const TestImage&) = delete;
  std::vector<float> values() const { return {example.values, example.values + example.shape.numel()}; }

  std::vector<float> first, second;
  AugmentedExample example;
};

std::vector<float> original(const Shape& shape, uint32_t seed = 1) { return TestImage(shape, seed).values(); }

template <class Kind>
std::vector<float> changed(const Kind& kind, const Shape& shape, uint64_t key) {
  TestImage image(shape);
  AugmentationRandom random(key);
  kind.apply(image.example, random);
  return image.values();
}

/// The largest difference.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(double(a[i]) - double(b[i])));
  return most;
}

/// Of six deviations of a count of draws.
double slack(double probability) { return 6 * std::sqrt(kDraws * probability * (1 - probability)); }

TEST(Augmentation, PixelsAreTorchvisions) {
  std::ifstream file(TREADLE_SOURCE_DIR "/tests/data/torchvision_goldens.json");
  const nlohmann::json cases = nlohmann::json::parse(file)["cases"];
  ASSERT_EQ(cases.size(), 32u);
  for (const auto& c : cases) {
    Shape shape;
    for (int64_t extent : c["shape"]) shape.push_back(extent);
    TestImage image(shape, c["seed"]);
    const std::string op = c["op"];
    if (op == "affine")
      move_pixels(image.example,
                  inverse_of({c["degrees"], c["right"], c["down"], c["scale"], c["shear_x"], c["shear_y"]}),
                  c["fill"]);
    if (op == "brightness") JitterAugmentation::change_brightness(image.example, c["factor"]);
    if (op == "contrast") JitterAugmentation::change_contrast(image.example, c["factor"]);
    if (op == "saturation") JitterAugmentation::change_saturation(image.example, c["factor"]);
    // Values are of [0, 1], written with 7 digits; torchvision's places are f32 numbers in [-1, 1], of which
    // a unit in the last place is 1e-7 times half the width, 3.5 pixels, between values that differ by up to
    // 1, and each passes some four roundings.
    EXPECT_LT(distance(image.values(), c["values"].get<std::vector<float>>()), op == "affine" ? 4e-6 : 5e-7)
        << c.dump();
  }
}

TEST(Augmentation, CropShowsEachPlaceOfThePaddedImage) {
  const Shape shape{2, 4, 5};
  const std::vector<float> before = original(shape);
  constexpr int64_t kPadding = 2;
  std::vector<int> seen(25);
  for (int key = 0; key < kDraws; ++key) {
    const auto after = changed(CropAugmentation{kPadding, 7}, shape, uint64_t(key));
    int matches = 0;
    for (int64_t top = -kPadding; top <= kPadding; ++top)
      for (int64_t left = -kPadding; left <= kPadding; ++left) {
        std::vector<float> wanted(before.size(), 7.0f);
        for (int64_t c = 0; c < 2; ++c)
          for (int64_t y = 0; y < 4; ++y)
            for (int64_t x = 0; x < 5; ++x)
              if (y + top >= 0 && y + top < 4 && x + left >= 0 && x + left < 5)
                wanted[size_t(c * 20 + y * 5 + x)] = before[size_t(c * 20 + (y + top) * 5 + x + left)];
        if (wanted != after) continue;
        ++matches, ++seen[size_t((top + kPadding) * 5 + left + kPadding)];
      }
    ASSERT_EQ(matches, 1);
  }
  for (int count : seen) EXPECT_NEAR(count, kDraws / 25.0, slack(1 / 25.0));
}

TEST(Augmentation, CropWithoutPaddingAndBeyondTheImage) {
  const Shape shape{1, 3, 3};
  for (uint64_t key = 0; key < 20; ++key) {
    EXPECT_EQ(changed(CropAugmentation{0}, shape, key), original(shape));
    changed(CropAugmentation{50}, shape, key);
  }
}

TEST(Augmentation, FlipsAreTheirOwnInverse) {
  for (const Shape& shape : {Shape{1, 3, 4}, Shape{3, 5, 5}, Shape{1, 1, 1}}) {
    const auto before = original(shape);
    const int64_t height = shape[1], width = shape[2];
    for (bool vertical : {false, true}) {
      TestImage image(shape);
      auto flip = [&] {
        AugmentationRandom random(1);
        if (vertical)
          VerticalFlipAugmentation{1}.apply(image.example, random);
        else
          FlipAugmentation{1}.apply(image.example, random);
      };
      flip();
      const auto after = image.values();
      for (int64_t i = 0; i < shape.numel(); ++i) {
        const int64_t c = i / (height * width), y = i / width % height, x = i % width;
        const int64_t from =
            vertical ? (c * height + height - 1 - y) * width + x : (c * height + y) * width + width - 1 - x;
        EXPECT_EQ(after[size_t(i)], before[size_t(from)]);
      }
      flip();
      EXPECT_EQ(image.values(), before);
    }
  }
}

TEST(Augmentation, FlipsHappenAsOftenAsTheySay) {
  const Shape shape{1, 1, 2};
  int flipped = 0;
  for (int key = 0; key < kDraws; ++key)
    flipped += changed(FlipAugmentation{0.3}, shape, uint64_t(key)) != original(shape);
  EXPECT_NEAR(flipped, 0.3 * kDraws, slack(0.3));
  EXPECT_EQ(changed(FlipAugmentation{0}, shape, 1), original(shape));
}

TEST(Augmentation, WithoutStrengthNothingChanges) {
  const Shape shape{3, 6, 5};
  for (uint64_t key = 0; key < 5; ++key) {
    EXPECT_EQ(changed(RotateAugmentation{0}, shape, key), original(shape));
    // cos 0 is 1 exactly, so that each pixel comes from its own place.
    EXPECT_EQ(changed(AffineAugmentation{0, 0, 0, 0}, shape, key), original(shape));
    EXPECT_LT(distance(changed(JitterAugmentation{0, 0, 0}, shape, key), original(shape)), 1e-7);
    EXPECT_EQ(changed(EraseAugmentation{.probability = 0}, shape, key), original(shape));
    EXPECT_EQ(changed(CutoutAugmentation{.size = 3, .probability = 0}, shape, key), original(shape));
  }
}

TEST(Augmentation, RotationsTurnEitherWayUpToTheAngle) {
  // By 90 degrees clockwise the pixel right of the centre goes below it.
  TestImage image({1, 3, 3});
  const auto before = image.values();
  move_pixels(image.example, inverse_of({.degrees = 90}), 0);
  EXPECT_NEAR(image.values()[7], before[5], 1e-6);
  // The first random number decides: the spread of the angle is that of uniform(-10, 10).
  const Shape shape{1, 7, 7};
  for (uint64_t key = 0; key < 10; ++key) {
    const double angle = AugmentationRandom(key).uniform(-10, 10);
    TestImage turned(shape);
    move_pixels(turned.example, inverse_of({.degrees = angle}), 0);
    EXPECT_EQ(changed(RotateAugmentation{10}, shape, key), turned.values());
  }
}

TEST(Augmentation, AffineShiftsByShares) {
  // Of a shift alone by whole pixels, content moves right and down.
  TestImage image({1, 4, 4});
  const auto before = image.values();
  move_pixels(image.example, inverse_of({.right = 1, .down = 2}), 0);
  for (size_t y = 0; y < 4; ++y)
    for (size_t x = 0; x < 4; ++x)
      EXPECT_EQ(image.values()[y * 4 + x], y < 2 || x < 1 ? 0 : before[(y - 2) * 4 + x - 1]);
  // Twice the size about the centre: no place of the input is farther than half of it.
  for (uint64_t key = 0; key < 50; ++key) {
    const auto after =
        changed(AffineAugmentation{.degrees = 0, .shift = 0.5, .scale = 0, .fill = 9}, {1, 8, 8}, key);
    EXPECT_LT(std::count(after.begin(), after.end(), 9.0f), 48);
  }
}

TEST(Augmentation, JitterStaysWithinPixelsAndItsStrength) {
  const Shape shape{3, 4, 4};
  for (uint64_t key = 0; key < 200; ++key)
    for (float value : changed(JitterAugmentation{3, 3, 3}, shape, key)) {
      EXPECT_GE(value, 0);
      EXPECT_LE(value, 1);
    }
  for (uint64_t key = 0; key < 200; ++key) {  // of brightness alone a pixel becomes its multiple
    const float factor = changed(JitterAugmentation{0.25, 0, 0}, {1, 1, 1}, key)[0] / original({1, 1, 1})[0];
    EXPECT_GE(factor, 0.75f - 1e-6f);
    EXPECT_LE(factor, 1.25f + 1e-6f);
  }
  // A grey image has no saturation to lose.
  EXPECT_LT(distance(changed(JitterAugmentation{0, 0, 1}, {1, 4, 4}, 3), original({1, 4, 4})), 1e-7);
}

TEST(Augmentation, CutoutBlanksASquareAroundAnyPixel) {
  const Shape shape{2, 6, 6};
  std::vector<int> blanked(36);
  for (int key = 0; key < kDraws; ++key) {
    const auto after = changed(CutoutAugmentation{.size = 3, .fill = 5}, shape, uint64_t(key));
    int64_t top = 6, left = 6, bottom = -1, right = -1, count = 0;
    for (int64_t i = 0; i < 36; ++i) {
      EXPECT_EQ(after[size_t(i)] == 5, after[size_t(36 + i)] == 5) << "all channels alike";
      if (after[size_t(i)] != 5) continue;
      ++blanked[size_t(i)], ++count;
      top = std::min(top, i / 6), bottom = std::max(bottom, i / 6);
      left = std::min(left, i % 6), right = std::max(right, i % 6);
    }
    EXPECT_EQ(count, (bottom - top + 1) * (right - left + 1));
    EXPECT_GE(count, 4);
    EXPECT_LE(count, 9);
  }
  // A pixel within is blank where the centre is one of nine of 36, one in the corner where it is one of four.
  EXPECT_NEAR(blanked[14], kDraws / 4.0, slack(1 / 4.0));
  EXPECT_NEAR(blanked[0], kDraws / 9.0, slack(1 / 9.0));
}

TEST(Augmentation, EraseBlanksRectanglesOfTheShareAndRatio) {
  const Shape shape{1, 40, 40};
  int erased = 0;
  double area = 0, tall = 0;
  for (int key = 0; key < kDraws; ++key) {
    const auto after = changed(
        EraseAugmentation{.probability = 0.6, .smallest = 0.1, .largest = 0.2, .ratio = 2, .fill = -1}, shape,
        uint64_t(key));
    const auto count = std::count(after.begin(), after.end(), -1.0f);
    if (count == 0) continue;
    ++erased;
    area += double(count) / 1600;
    const auto first = std::find(after.begin(), after.end(), -1.0f);
    const auto width = std::find_if(first, after.end(), [](float x) { return x != -1; }) - first;
    tall += std::log(double(count / width) / double(width));
    // Sides are rounded: by up to half a pixel of at least 8.
    EXPECT_NEAR(double(count) / 1600, 0.15, 0.05 + 0.03);
    EXPECT_LE(std::abs(std::log(double(count / width) / double(width))), std::log(2.0) + 0.13);
  }
  EXPECT_NEAR(erased, 0.6 * kDraws, slack(0.6));
  // Means of uniform variates, of deviation range/√12; six deviations of the mean.
  EXPECT_NEAR(area / erased, 0.15, 6 * 0.1 / std::sqrt(12.0 * erased) + 0.002);
  EXPECT_NEAR(tall / erased, 0, 6 * 2 * std::log(2.0) / std::sqrt(12.0 * erased) + 0.01);
}

TEST(Augmentation, EraseLeavesWhatHasNoRoom) {
  EXPECT_EQ(changed(EraseAugmentation{.probability = 1, .smallest = 1, .largest = 1}, {1, 8, 8}, 4),
            original({1, 8, 8}));
}

template <class Kind>
double mixed(const Kind& kind, const Shape& shape, uint64_t key, std::vector<float>& values) {
  TestImage image(shape, 1), partner(shape, 2);
  AugmentationRandom random(key);
  const double share = kind.mix(image.example, partner.example, random);
  EXPECT_EQ(partner.values(), original(shape, 2));
  values = image.values();
  return share;
}

TEST(Augmentation, MixupBlendsByTheShareItGives) {
  const Shape shape{7};
  const auto a = original(shape, 1), b = original(shape, 2);
  std::vector<float> values;
  for (uint64_t key = 0; key < 100; ++key) {
    const double share = mixed(MixupAugmentation{0.4}, shape, key, values);
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i], share * double(a[i]) + (1 - share) * double(b[i]), 2e-7);
  }
}

TEST(Augmentation, CutmixPastesThePieceItCounts) {
  const Shape shape{3, 9, 8};
  const auto a = original(shape, 1), b = original(shape, 2);
  std::vector<float> values;
  double sum = 0;
  for (uint64_t key = 0; key < 500; ++key) {
    const double share = mixed(CutmixAugmentation{1}, shape, key, values);
    int64_t own = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_TRUE(values[i] == a[i] || values[i] == b[i]);
      EXPECT_EQ(values[i] == a[i], values[i % 72] == a[i % 72]) << "all channels alike";
      own += values[i] == a[i];
    }
    EXPECT_DOUBLE_EQ(share, double(own) / double(values.size()));
    sum += share;
  }
  EXPECT_GT(sum / 500, 0.5);  // cut pieces are smaller than 1 - λ, whose mean is a half
  EXPECT_LT(sum / 500, 0.8);
}

TEST(AugmentationNumbers, BetaHasItsMeanAndVariance) {
  for (double alpha : {0.05, 0.2, 1.0, 3.0}) {
    double sum = 0, squares = 0;
    for (int key = 0; key < kDraws; ++key) {
      const double x = AugmentationRandom(uint64_t(key)).beta(alpha);
      ASSERT_TRUE(x >= 0 && x <= 1) << x;
      sum += x, squares += (x - 0.5) * (x - 0.5);
    }
    const double variance = 1 / (4 * (2 * alpha + 1));
    // (x - ½)² lies in [0, ¼]: its deviation is at most √(variance · ¼).
    EXPECT_NEAR(sum / kDraws, 0.5, 6 * std::sqrt(variance / kDraws));
    EXPECT_NEAR(squares / kDraws, variance, 6 * std::sqrt(variance / 4 / kDraws));
  }
}

TEST(Augmentations, AreReadFromText) {
  const Augmentations list = Augmentations::parse("crop:3,jitter:0.5:saturation=0.1,mixup:0.2,flip");
  ASSERT_EQ(list.steps().size(), 4u);
  EXPECT_EQ(list.steps()[0].options.as<CropAugmentation>().padding, 3);
  const auto& jitter = list.steps()[1].options.as<JitterAugmentation>();
  EXPECT_EQ(jitter.brightness, 0.5);
  EXPECT_EQ(jitter.contrast, JitterAugmentation().contrast);
  EXPECT_EQ(jitter.saturation, 0.1);
  EXPECT_EQ(list.steps()[3].kind->name, "flip");
  EXPECT_TRUE(list.mixes());
  EXPECT_FALSE(Augmentations::parse("crop,flip").mixes());
  EXPECT_TRUE(Augmentations::parse("").empty());
  const Augmentations made(CropAugmentation{.padding = 3}, FlipAugmentation());
  EXPECT_EQ(made.steps()[0].options.as<CropAugmentation>().padding, 3);
  EXPECT_EQ(made.steps()[1].kind, list.steps()[3].kind);
}

std::string refusal(const std::string& text) {
  try {
    Augmentations::parse(text);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "";
}

TEST(Augmentations, RefuseTextSayingWhatIsKnown) {
  const std::pair<const char*, std::vector<const char*>> cases[] = {
      {"crpo:4", {"crpo", "did you mean 'crop'", "mixup", "rotate"}},
      {"crop,", {"no augmentation is called"}},
      {"flip,,crop", {"no augmentation is called"}},
      {"crop:a", {"crop", "padding", "'a'", "whole number"}},
      {"crop:1.5", {"1.5", "whole number"}},
      {"crop:1:2:3", {"crop", "at most 2", "padding, fill"}},
      {"crop:1:padding=2", {"padding twice"}},
      {"jitter:hue=1", {"jitter", "hue", "brightness, contrast, saturation"}},
      {"rotate:", {"degrees is ''"}},
      {"crop:-1", {"crop", "-1"}},
      {"flip:1.5", {"flip", "1.5", "[0, 1]"}},
      {"rotate:nan", {"rotate", "nan"}},
      {"mixup:0", {"mixup", "positive"}},
      {"cutmix:inf", {"cutmix", "positive"}},
      {"cutout:0", {"cutout", "1 or more"}},
      {"erase:0.5:0.4:0.2", {"erase", "0.4 to 0.2"}},
      {"affine:1:1:1", {"affine", "below 1"}},
      {"affine:shear=90", {"89"}},
  };
  for (const auto& [text, parts] : cases)
    for (const char* part : parts)
      EXPECT_NE(refusal(text).find(part), std::string::npos) << text << ": " << refusal(text);
}

TEST(Augmentations, RefuseExamplesTheyCannotChange) {
  auto fits = [](const char* text, const Shape& shape, bool images) {
    try {
      Augmentations::parse(text).require_fit(shape, images);
      return true;
    } catch (const ValueError&) {
      return false;
    }
  };
  EXPECT_TRUE(fits("crop,jitter,mixup", {3, 8, 8}, true));
  EXPECT_TRUE(fits("crop,mixup", {3, 8, 8}, false));
  EXPECT_FALSE(fits("jitter", {3, 8, 8}, false));
  EXPECT_FALSE(fits("mixup,crop", {8}, false));
  EXPECT_TRUE(fits("mixup", {8}, false));
}

}  // namespace
}  // namespace treadle
