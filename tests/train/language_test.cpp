/// Training on a text, judging by it, and writing on.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/compile/restored_settings.h"
#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/data/text.h"
#include "treadle/graph/autograd.h"
#include "treadle/models/model.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/optim/optimizer.h"
#include "treadle/train/class_loss.h"
#include "treadle/train/language/fit_language_model.h"
#include "treadle/train/language/text_generator.h"
#include "treadle/train/language/text_windows.h"

namespace treadle {
namespace {

constexpr int64_t kBlock = 8;

/// Sentences of a small grammar, which can be learnt in seconds.
TextDataset sentences(int64_t count) {
  const char* who[] = {"a cat", "the dog", "my bird"};
  const char* does[] = {" sees ", " hears "};
  std::string text;
  SplitMix64 random(7);
  for (int64_t i = 0; i < count; ++i)
    text += std::string(who[random.below(3)]) + does[random.below(2)] + who[random.below(3)] + ".\n";
  TextDataset set{"sentences", Vocabulary::of(text, "sentences"), kBlock, {}};
  set.train = set.vocabulary.encode(text, "sentences");
  const auto test = set.train.size() / 10;
  set.test.assign(set.train.end() - int64_t(test), set.train.end());
  set.train.resize(set.train.size() - test);
  return set;
}

std::shared_ptr<Module> small_gpt(const TextDataset& text) {
  return make_model(
      "char_gpt",
      ModelTask{{text.block}, text.vocabulary.size(), {{"layers", "1"}, {"heads", "2"}, {"features", "32"}}},
      5);
}

std::vector<int32_t> counted(int64_t size) {
  std::vector<int32_t> numbers;
  for (int64_t i = 0; i < size; ++i) numbers.push_back(int32_t(i));
  return numbers;
}

TEST(TextWindows, AWindowAndWhatFollowsEach) {
  const auto batch = text_batch(counted(20), 3, std::vector<int64_t>{0, 16}, kCpu);
  EXPECT_EQ(batch[0].shape(), (Shape{2, 3}));
  EXPECT_EQ(batch[0].to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 2, 16, 17, 18}));
  EXPECT_EQ(batch[1].to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 3, 17, 18, 19}));
  expect_refused({refused<ValueError>("beyond", {"window of 3 at 17", "20 characters"},
                                      [] { text_batch(counted(20), 3, std::vector<int64_t>{17}, kCpu); }),
                  refused<ValueError>("short", {"3 characters", "window of 3"},
                                      [] { TextWindows(std::vector<int32_t>(3), 3, 0, kCpu); })});
}

/// Whatever the shift, all windows lie in the text; each seed and epoch has its own, and a run that is
/// resumed has the same again.
TEST(TextWindows, EpochsCutElsewhere) {
  for (int64_t size : {5, 8, 9, 10, 13, 14, 100}) {
    const std::vector<int32_t> text = counted(size);
    TextWindows windows(text, 4, 1, kCpu);
    std::vector<int64_t> all(static_cast<size_t>(windows.size()));
    for (size_t i = 0; i < all.size(); ++i) all[i] = int64_t(i);
    std::vector<int64_t> shifts;
    for (int64_t epoch = 0; epoch < 60; ++epoch) {
      shifts.push_back(windows.shift(epoch));
      EXPECT_LT(shifts.back(), 4);
      const auto seen = windows.batch(epoch, all)[0].to_vector<int64_t>();
      EXPECT_EQ(seen[0], shifts.back());
      EXPECT_EQ(seen.back(), shifts.back() + 4 * windows.size() - 1);
    }
    // Room for every shift where the text has it: 60 draws of 4 leave one out with a chance of 1e-7.
    for (int64_t shift = 0; shift < std::min<int64_t>(4, size - 4 * windows.size()); ++shift)
      EXPECT_NE(std::find(shifts.begin(), shifts.end(), shift), shifts.end()) << size << ' ' << shift;
    EXPECT_EQ(TextWindows(text, 4, 1, kCpu).shift(59), shifts.back());
  }
}

/// From wherever the sampler stands, each batch is cut as its epoch says.
TEST(TextWindows, BatchesFollowTheSampler) {
  const std::vector<int32_t> text = counted(30);
  const TextWindows windows(text, 4, 1, kCpu);
  BatchSampler sampler(windows.size(), 4, 1);
  const auto whole = windows.batches(sampler);
  for (int step = 0; step < 12; ++step) {
    const auto rest = windows.batches(sampler);
    const auto indices = sampler.next();
    const auto wanted = windows.batch(sampler.state().epoch, indices)[0].to_vector<int64_t>();
    EXPECT_EQ(whole->next()[0].to_vector<int64_t>(), wanted) << step;
    EXPECT_EQ(rest->next()[0].to_vector<int64_t>(), wanted) << step;
  }
}

TEST(TextEvaluation, IsTheMeanOverAllWholeWindows) {
  const TextDataset text = sentences(40);
  const auto model = small_gpt(text);
  const std::vector<int32_t> part(text.test.begin(), text.test.begin() + 5 * kBlock + 4);
  const TextEvaluation found = TextEvaluator(*model)(part, kBlock, kCpu, 2);
  EXPECT_EQ(found.characters, 5 * kBlock);
  NoGrad no_grad;
  double sum = 0;
  for (int64_t i = 0; i < 5; ++i) {
    const auto window = text_batch(part, kBlock, std::vector<int64_t>{i * kBlock}, kCpu);
    sum += class_loss((*model)(window[0]), window[1]).item() / 5;
  }
  EXPECT_NEAR(found.loss, sum, 1e-5);
  EXPECT_NEAR(found.perplexity(), std::exp(found.loss), 1e-9);
  EXPECT_NEAR(found.bits_per_character(), found.loss / std::log(2), 1e-9);
  EXPECT_EQ(TextEvaluator(*model)(part, kBlock, kCpu, 2, 3).characters, 3 * kBlock);
}

/// A model that learnt the grammar: the figures, and what it writes.
class Trained : public testing::Test {
 protected:
  /// Once for all tests.
  static void SetUpTestSuite() {
    text_ = sentences(300);
    model_ = small_gpt(text_);
    auto optimizer = make_optimizer("adamw", model_->named_parameters(), 0.01);
    TaskOptions options;
    options.epochs = 12, options.batch_size = 16;
    result_ = fit_language_model(*model_, *optimizer, Schedule::named("constant", 0.01), text_, options);
  }
  static void TearDownTestSuite() { model_.reset(); }

  std::string written(uint64_t seed, const SamplingOptions& sampling, int64_t count) {
    TextGenerator generator(*model_, kBlock, kCpu, text_.vocabulary.encode("the dog ", "prompt"), sampling,
                            seed);
    std::vector<int32_t> numbers;
    for (int64_t i = 0; i < count; ++i) numbers.push_back(generator.next());
    return text_.vocabulary.decode(numbers);
  }

  static inline TextDataset text_;
  static inline std::shared_ptr<Module> model_;
  static inline FitResult result_;
  DeterministicRuns equal_bits_;
};

TEST_F(Trained, LearnsWhatTheGrammarLeavesOpen) {
  // A sentence of some 20 characters leaves 2·log 3 + log 2 nats open, 0.15 a character; with 8 of them in
  // sight, of which the first know nothing before them, less than half of a guess by frequency remains.
  const TextEvaluation test = text_evaluation_of(result_.test);
  EXPECT_LT(test.loss, 0.9);
  EXPECT_NEAR(result_.test["perplexity"], std::exp(result_.test["loss"]), 1e-9);
  EXPECT_GT(result_.losses.front(), 2.5);
  const std::string likeliest = written(1, {.temperature = 0}, 40);
  EXPECT_TRUE(likeliest.starts_with("sees ") || likeliest.starts_with("hears ")) << likeliest;
}

TEST_F(Trained, TheSeedDecidesWhatIsWritten) {
  EXPECT_EQ(written(1, {}, 60), written(1, {}, 60));
  EXPECT_NE(written(1, {}, 60), written(2, {}, 60));
  EXPECT_EQ(written(1, {.top_k = 1}, 60), written(2, {.temperature = 0}, 60));
}

/// The program for a whole block gives what the model gives for the characters alone, and once there are
/// more than a block, for the last of them.
TEST_F(Trained, WritesFromTheUnfilledForwardPass) {
  NoGrad no_grad;
  model_->eval();
  std::vector<int32_t> all = text_.vocabulary.encode("the", "prompt");
  TextGenerator generator(*model_, kBlock, kCpu, all, {.temperature = 0}, 0);
  for (int i = 0; i < 12; ++i) {
    const auto count = std::min<size_t>(all.size(), kBlock);
    const std::vector<int64_t> last(all.end() - int64_t(count), all.end());
    const auto wanted = (*model_)(Tensor::from(last, {1, int64_t(count)})).to_vector<float>();
    const auto found = generator.logits();
    for (size_t k = 0; k < found.size(); ++k)
      EXPECT_NEAR(found[k], wanted[wanted.size() - found.size() + k], 1e-4) << i << ' ' << k;
    all.push_back(generator.next());
  }
}

TEST(DrawClass, FollowsTheProbabilities) {
  // Probabilities 1/2, 1/4, 1/4; squared, at temperature 1/2, 2/3, 1/6, 1/6.
  const std::vector<float> logits = {float(std::log(0.25)), float(std::log(0.5)), float(std::log(0.25))};
  const auto shares = [&](const SamplingOptions& options) {
    SplitMix64 random(3);
    std::vector<double> counts(3);
    for (int i = 0; i < 4000; ++i) counts[size_t(draw_class(logits, options, random))] += 1.0 / 4000;
    return counts;
  };
  // Five deviations of a share of 4,000: 5·√(1/4/4000).
  const auto expect = [](const std::vector<double>& found, const std::vector<double>& wanted) {
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(found[i], wanted[i], 0.04) << i;
  };
  expect(shares({}), {0.25, 0.5, 0.25});
  expect(shares({.temperature = 0.5}), {1 / 6.0, 2 / 3.0, 1 / 6.0});
  expect(shares({.top_k = 2}), {1 / 3.0, 2 / 3.0, 0});  // the first of two equal ones
  expect(shares({.temperature = 0}), {0, 1, 0});
  SplitMix64 random(0);
  expect_refused({
      refused<ValueError>("temperature", {"temperature -1"},
                          [&] { draw_class(logits, {.temperature = -1}, random); }),
      refused<ValueError>("top", {"-2"}, [&] { draw_class(logits, {.top_k = -2}, random); }),
      refused<ValueError>("none", {"no class"}, [&] { draw_class({}, {}, random); }),
      refused<ValueError>("nan", {"nan"},
                          [&] {
                            draw_class(std::vector<float>{0, NAN}, {}, random);
                          }),
  });
}

}  // namespace
}  // namespace treadle
