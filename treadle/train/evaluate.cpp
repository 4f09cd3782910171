#include "treadle/train/evaluate.h"

#include <algorithm>
#include <numeric>

#include "treadle/graph/autograd.h"
#include "treadle/ops/copy.h"
#include "treadle/ops/cross_entropy.h"
#include "treadle/ops/reduce.h"

namespace treadle {

Batch make_batch(const ImageDataset& dataset, std::span<const int64_t> indices,
                 const PixelNormalization& normalization, Device device) {
  const Shape& image = dataset.image_shape;
  int64_t count = int64_t(indices.size());
  Batch batch{Tensor::empty({count, image[0], image[1], image[2]}), Tensor::empty({count}, DType::i64)};
  gather_batch(dataset, indices, batch.images.data<float>(), batch.labels.data<int64_t>(), normalization);
  if (device == kCpu) return batch;
  return {to(batch.images, device), to(batch.labels, device)};
}

namespace {

/// Evaluation mode while one lives.
class EvaluationMode {
 public:
  explicit EvaluationMode(Module& model) : model_(model), before_(model.is_training()) { model.eval(); }
  ~EvaluationMode() { model_.train(before_); }

 private:
  Module& model_;
  bool before_;
};

void count_correct(const Tensor& logits, const Tensor& labels, Evaluation& evaluation) {
  auto predicted = argmax(logits, 1).to_vector<int64_t>(), wanted = labels.to_vector<int64_t>();
  for (size_t i = 0; i < wanted.size(); ++i) {
    ++evaluation.total[wanted[i]];
    evaluation.correct[wanted[i]] += predicted[i] == wanted[i];
  }
}

}  // namespace

Evaluation evaluate(Module& model, const ImageDataset& dataset, const PixelNormalization& normalization,
                    Device device, int64_t batch_size, int64_t limit, std::stop_token stop) {
  NoGrad no_grad;
  EvaluationMode mode(model);
  Evaluation evaluation;
  evaluation.correct.resize(dataset.classes.size());
  evaluation.total.resize(dataset.classes.size());
  int64_t size = limit > 0 ? std::min(limit, dataset.size()) : dataset.size();
  std::vector<int64_t> indices(size);
  std::iota(indices.begin(), indices.end(), 0);
  for (int64_t begin = 0; begin < size && !stop.stop_requested(); begin += batch_size) {
    int64_t count = std::min(batch_size, size - begin);
    Batch batch = make_batch(dataset, std::span(indices).subspan(begin, count), normalization, device);
    Tensor logits = model(batch.images);
    evaluation.loss += cross_entropy(logits, batch.labels).item() * double(count);
    count_correct(logits, batch.labels, evaluation);
  }
  int64_t correct = std::accumulate(evaluation.correct.begin(), evaluation.correct.end(), int64_t(0));
  evaluation.loss /= double(std::max<int64_t>(size, 1));
  evaluation.accuracy = double(correct) / double(std::max<int64_t>(size, 1));
  return evaluation;
}

}  // namespace treadle
