#include "treadle/train/language/evaluate_text.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/train/class_loss.h"
#include "treadle/train/evaluation_mode.h"
#include "treadle/train/language/text_windows.h"

namespace treadle {

double TextEvaluation::perplexity() const { return std::exp(loss); }
double TextEvaluation::bits_per_character() const { return loss / std::numbers::ln2; }

struct TextEvaluator::Forward {
  explicit Forward(Module& model) : run(compile(Loss{model})) {}

  struct Loss {
    Module& model;
    Tensor operator()(const Tensor& seen, const Tensor& next) const { return class_loss(model(seen), next); }
  };
  Compiled<Loss> run;
};

TextEvaluator::TextEvaluator(Module& model) : model_(model), forward_(std::make_unique<Forward>(model)) {}
TextEvaluator::~TextEvaluator() = default;

TextEvaluation TextEvaluator::operator()(std::span<const int32_t> text, int64_t block, Device device,
                                         int64_t batch_size, int64_t limit, std::stop_token stop) {
  require<ValueError>(batch_size > 0, "evaluate: the batch size is {}, it must be positive", batch_size);
  require<ValueError>(limit >= 0, "evaluate: the limit is {}, it cannot be negative", limit);
  require<ValueError>(block > 0 && int64_t(text.size()) > block,
                      "a text of {} characters has no window of {} and a next one", text.size(), block);
  NoGrad no_grad;
  EvaluationMode mode(model_);
  const int64_t all = (int64_t(text.size()) - 1) / block, windows = limit > 0 ? std::min(limit, all) : all;
  TextEvaluation evaluation;
  double sum = 0;
  for (int64_t begin = 0; begin < windows && !stop.stop_requested(); begin += batch_size) {
    std::vector<int64_t> places;
    for (int64_t i = begin; i < std::min(begin + batch_size, windows); ++i) places.push_back(i * block);
    const std::vector<Tensor> batch = text_batch(text, block, places, device);
    const int64_t characters = int64_t(places.size()) * block;
    sum += forward_->run(batch[0], batch[1]).item() * double(characters);
    evaluation.characters += characters;
  }
  evaluation.loss = sum / double(std::max<int64_t>(evaluation.characters, 1));
  return evaluation;
}

}  // namespace treadle
