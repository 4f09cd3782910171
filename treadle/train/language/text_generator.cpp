#include "treadle/train/language/text_generator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/train/evaluation_mode.h"

namespace treadle {
namespace {

void check(const SamplingOptions& o) {
  require<ValueError>(o.temperature >= 0 && std::isfinite(o.temperature),
                      "the temperature {} is negative or not finite", o.temperature);
  require<ValueError>(o.top_k >= 0, "the {} likeliest cannot be drawn from", o.top_k);
}

/// The classes that may be drawn, likeliest first.
std::vector<int64_t> candidates(std::span<const float> logits, const SamplingOptions& o) {
  std::vector<int64_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return logits[size_t(a)] > logits[size_t(b)]; });
  const auto most = o.temperature == 0 ? 1 : o.top_k;
  if (most > 0 && most < int64_t(order.size())) order.resize(size_t(most));
  return order;
}

/// In [0, 1), a multiple of 2^-53.
double uniform(SplitMix64& random) { return double(random.next() >> 11) * 0x1p-53; }

}  // namespace

int64_t draw_class(std::span<const float> logits, const SamplingOptions& options, SplitMix64& random) {
  check(options);
  require<ValueError>(!logits.empty(), "there is no class to draw");
  for (float logit : logits) require<ValueError>(std::isfinite(logit), "a logit is {}", logit);
  const std::vector<int64_t> classes = candidates(logits, options);
  if (classes.size() == 1) return classes[0];
  const double largest = logits[size_t(classes[0])];
  std::vector<double> sums;  // of the weights up to each
  double sum = 0;
  for (int64_t c : classes)
    sums.push_back(sum += std::exp((double(logits[size_t(c)]) - largest) / options.temperature));
  const double drawn = uniform(random) * sum;
  const auto found = std::upper_bound(sums.begin(), sums.end(), drawn);
  return classes[size_t(std::min<int64_t>(found - sums.begin(), int64_t(classes.size()) - 1))];
}

struct TextGenerator::Forward {
  explicit Forward(Module& m) : model(m), run(compile(Logits{m})) {}

  struct Logits {
    Module& model;
    Tensor operator()(const Tensor& x) const { return model(x); }
  };
  Module& model;
  Compiled<Logits> run;
};

TextGenerator::TextGenerator(Module& model, int64_t block, Device device, std::span<const int32_t> beginning,
                             const SamplingOptions& options, uint64_t seed)
    : block_(block),
      device_(device),
      options_(options),
      random_(SplitMix64::mix(seed)),
      forward_(std::make_unique<Forward>(model)) {
  check(options);
  require<ValueError>(block > 0 && !beginning.empty(),
                      "writing needs a character to begin with and a block, not {} and {}", beginning.size(),
                      block);
  const auto kept = std::min(beginning.size(), size_t(block));
  window_.assign(beginning.end() - int64_t(kept), beginning.end());
}

TextGenerator::~TextGenerator() = default;

std::vector<float> TextGenerator::logits() {
  NoGrad no_grad;
  EvaluationMode mode(forward_->model);
  const Tensor x = Tensor::zeros({1, block_}, DType::i64);
  std::copy(window_.begin(), window_.end(), x.data<int64_t>());
  const std::vector<float> all = forward_->run(to(x, device_)).to_vector<float>();
  const auto classes = int64_t(all.size()) / block_;
  const auto row = all.begin() + (int64_t(window_.size()) - 1) * classes;
  return {row, row + classes};
}

int32_t TextGenerator::next() {
  const auto drawn = int32_t(draw_class(logits(), options_, random_));
  if (int64_t(window_.size()) == block_) window_.erase(window_.begin());
  window_.push_back(drawn);
  return drawn;
}

}  // namespace treadle
