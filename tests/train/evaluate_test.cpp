/// Evaluation: what is counted when it ends early, and its worst values.
#include "treadle/train/classification/evaluate.h"

#include <cmath>

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {
namespace {

/// Images of four pixels, of which the one of the label is bright.
ImageDataset labelled_by_pixel(int64_t size) {
  ImageDataset data{"pixels", {"a", "b", "c", "d"}, {1, 2, 2}, {}, {}};
  for (int64_t n = 0; n < size; ++n) {
    data.labels.push_back(uint8_t(n % 4));
    for (int64_t pixel = 0; pixel < 4; ++pixel) data.pixels.push_back(pixel == n % 4 ? 255 : 0);
  }
  return data;
}

/// Reads the label off the pixels; asks for a stop when it is recorded first.
class ReadsPixels final : public Module {
 public:
  std::string describe() const override { return "ReadsPixels"; }
  std::stop_source stop;

 protected:
  Tensor forward(const Tensor& x) override {
    stop.request_stop();
    return flatten(x, 1) * 2;
  }
};

const double kLossOfEach = std::log(1 + 3 * std::exp(-2.0));

TEST(Evaluate, AStopCountsTheImagesSeen) {
  ReadsPixels model;
  const Evaluation part = evaluate(model, labelled_by_pixel(200), {}, kCpu, 8, 0, model.stop.get_token());
  EXPECT_EQ(part.total, (std::vector<int64_t>{2, 2, 2, 2}));
  EXPECT_EQ(part.accuracy, 1);
  EXPECT_EQ(part.confusion, (ConfusionMatrix{{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}, {0, 0, 0, 2}}));
  EXPECT_NEAR(part.loss, kLossOfEach, 1e-6);
}

TEST(Evaluate, AllImagesAndALimit) {
  ReadsPixels model;
  const ImageDataset data = labelled_by_pixel(22);
  EXPECT_NEAR(evaluate(model, data, {}, kCpu, 8).loss, kLossOfEach, 1e-6);
  EXPECT_EQ(evaluate(model, data, {}, kCpu, 8).total, (std::vector<int64_t>{6, 6, 5, 5}));
  EXPECT_EQ(evaluate(model, data, {}, kCpu, 8, 3).total, (std::vector<int64_t>{1, 1, 1, 0}));
  EXPECT_EQ(evaluate(model, data, {}, kCpu, 1 << 20, 1 << 20).accuracy, 1);
}

/// Rows of logits, with labels.
class Rows final : public Examples {
 public:
  explicit Rows(std::vector<int64_t> labels) : labels_(std::move(labels)) {}
  int64_t size() const override { return int64_t(labels_.size()); }
  std::vector<Tensor> batch(std::span<const int64_t> indices) const override {
    std::vector<float> logits;
    std::vector<int64_t> labels;
    for (int64_t index : indices) {
      for (int64_t k = 0; k < 4; ++k) logits.push_back(k == index % 4 ? 1 : 0);
      labels.push_back(labels_[size_t(index)]);
    }
    const auto count = int64_t(indices.size());
    return {Tensor::from(logits, {count, 4}), Tensor::from(labels, {count})};
  }

 private:
  std::vector<int64_t> labels_;
};

TEST(Evaluate, CountsAsManyClassesAsThereAre) {
  ReadsPixels model;
  Evaluator evaluator(model);
  const Evaluation found = evaluator(Rows({0, 0, 2}), 0, 2);
  EXPECT_EQ(found.total, (std::vector<int64_t>{2, 0, 1}));
  EXPECT_EQ(found.confusion, (ConfusionMatrix{{1, 1, 0}, {0, 0, 0}, {0, 0, 1}}));
  EXPECT_EQ(evaluator(Rows({0, 1, 1}), 5).total, (std::vector<int64_t>{1, 2, 0, 0, 0}));
  expect_error<ValueError>([&] { evaluator(Rows({0, 3}), 3); }, {"label 3", "3 classes"});
  expect_error<ValueError>([&] { evaluator(Rows({0, -1}), 0); }, {"label -1"});
}

TEST(Evaluate, StoppedBeforeTheFirstImage) {
  ReadsPixels model;
  model.stop.request_stop();
  const Evaluation none = evaluate(model, labelled_by_pixel(8), {}, kCpu, 8, 0, model.stop.get_token());
  EXPECT_EQ(none.accuracy, 0);
  EXPECT_EQ(none.loss, 0);
}

TEST(Evaluate, WorstValues) {
  ReadsPixels model;
  const ImageDataset data = labelled_by_pixel(8);
  ImageDataset few_classes = data;
  few_classes.classes = {"a", "b"};
  expect_refused({
      refused<ValueError>("batch 0", {"batch size is 0"}, [&] { evaluate(model, data, {}, kCpu, 0); }),
      refused<ValueError>("batch -1", {"batch size is -1"}, [&] { evaluate(model, data, {}, kCpu, -1); }),
      refused<ValueError>("limit", {"limit is -1"}, [&] { evaluate(model, data, {}, kCpu, 8, -1); }),
      refused<ValueError>("classes", {"label 2", "2 classes"},
                          [&] { evaluate(model, few_classes, {}, kCpu, 8); }),
      refused<ValueError>("index", {"image 9"}, [&] { make_batch(data, std::vector<int64_t>{9}, {}, kCpu); }),
      refused<DeviceAbsent>("device", {"cpu:3"},
                            [&] {
                              evaluate(model, data, {}, Device{DeviceKind::cpu, 3}, 8);
                            }),
  });
}

}  // namespace
}  // namespace treadle
