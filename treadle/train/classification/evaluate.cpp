#include "treadle/train/classification/evaluate.h"

#include <algorithm>
#include <numeric>

#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/train/classification/plain_images.h"
#include "treadle/train/evaluation_mode.h"

namespace treadle {

Batch make_batch(const ImageDataset& dataset, std::span<const int64_t> indices,
                 const PixelNormalization& normalization, Device device) {
  int64_t count = int64_t(indices.size());
  Batch batch{Tensor::empty(batch_shape(count, dataset.image_shape)), Tensor::empty({count}, DType::i64)};
  gather_batch(dataset, indices, batch.images.data<float>(), batch.labels.data<int64_t>(), normalization);
  if (device == kCpu) return batch;
  return {to(batch.images, device), to(batch.labels, device)};
}

namespace {

void resize(Evaluation& evaluation, size_t classes) {
  evaluation.correct.resize(classes);
  evaluation.total.resize(classes);
  evaluation.confusion.resize(classes);
  for (auto& row : evaluation.confusion) row.resize(classes);
}

/// Where `fixed`, there are no more classes than the evaluation has.
void count_correct(const Tensor& classes, const Tensor& labels, bool fixed, Evaluation& evaluation) {
  auto predicted = classes.to_vector<int64_t>(), wanted = labels.to_vector<int64_t>();
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto count = int64_t(evaluation.total.size());
    require<ValueError>(wanted[i] >= 0 && (!fixed || wanted[i] < count), "the label {} is none of {} classes",
                        wanted[i], count);
    require<ValueError>(!fixed || predicted[i] < count, "the model gives class {}, there are {}",
                        predicted[i], count);
    if (!fixed) resize(evaluation, size_t(std::max({wanted[i] + 1, predicted[i] + 1, count})));
    ++evaluation.total[wanted[i]];
    evaluation.correct[wanted[i]] += predicted[i] == wanted[i];
    ++evaluation.confusion[wanted[i]][predicted[i]];
  }
}

}  // namespace

struct Evaluator::Forward {
  explicit Forward(Module& model) : run(compile(LossAndClasses{model})) {}

  struct LossAndClasses {
    Module& model;
    std::pair<Tensor, Tensor> operator()(const Tensor& images, const Tensor& labels) const {
      Tensor logits = model(images);
      return {cross_entropy(logits, labels), argmax(logits, 1)};
    }
  };
  Compiled<LossAndClasses> run;
};

Evaluator::Evaluator(Module& model) : model_(model), forward_(std::make_unique<Forward>(model)) {}
Evaluator::~Evaluator() = default;

Evaluation Evaluator::operator()(const ImageDataset& dataset, const PixelNormalization& normalization,
                                 Device device, int64_t batch_size, int64_t limit, std::stop_token stop) {
  const PlainImages images(dataset, normalization, device);
  return (*this)(images, std::max<int64_t>(int64_t(dataset.classes.size()), 1), batch_size, limit, stop);
}

Evaluation Evaluator::operator()(const Examples& examples, int64_t classes, int64_t batch_size, int64_t limit,
                                 std::stop_token stop) {
  require<ValueError>(batch_size > 0, "evaluate: the batch size is {}, it must be positive", batch_size);
  require<ValueError>(limit >= 0, "evaluate: the limit is {}, it cannot be negative", limit);
  NoGrad no_grad;
  EvaluationMode mode(model_);
  Evaluation evaluation;
  resize(evaluation, size_t(classes));
  int64_t size = limit > 0 ? std::min(limit, examples.size()) : examples.size();
  std::vector<int64_t> indices(size);
  std::iota(indices.begin(), indices.end(), 0);
  for (int64_t begin = 0; begin < size && !stop.stop_requested(); begin += batch_size) {
    int64_t count = std::min(batch_size, size - begin);
    const std::vector<Tensor> batch = examples.batch(std::span(indices).subspan(begin, count));
    auto [loss, answers] = forward_->run(batch[0], batch[1]);
    evaluation.loss += loss.item() * double(count);
    count_correct(answers, batch[1], classes > 0, evaluation);
  }
  int64_t correct = std::accumulate(evaluation.correct.begin(), evaluation.correct.end(), int64_t(0));
  int64_t seen = std::accumulate(evaluation.total.begin(), evaluation.total.end(), int64_t(0));
  evaluation.loss /= double(std::max<int64_t>(seen, 1));
  evaluation.accuracy = double(correct) / double(std::max<int64_t>(seen, 1));
  return evaluation;
}

Evaluation evaluate(Module& model, const ImageDataset& dataset, const PixelNormalization& normalization,
                    Device device, int64_t batch_size, int64_t limit, std::stop_token stop) {
  return Evaluator(model)(dataset, normalization, device, batch_size, limit, stop);
}

}  // namespace treadle
