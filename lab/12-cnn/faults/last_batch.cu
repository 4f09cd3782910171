// How many of 100 predictions are right, in batches of 32. Something is wrong with every image, and something
// with the last batch.
#include "../../lab.h"

constexpr int kBatch = 32, kClasses = 10;

__global__ void count_right(const float* scores, const int* labels, int* right) {
  int n = threadIdx.x, best = 0;
  for (int i = 1; i < kClasses; ++i)
    if (scores[n * kClasses + i] > scores[n * kClasses + best]) best = i;
  if (best == labels[n]) atomicAdd(right, 1);
}

int main() {
  const int images = 100;
  const std::vector<float> scores = lab::numbers(images * kClasses);
  const std::vector<int> labels = lab::whole_numbers(images, kClasses);
  int expected = 0;
  for (int n = 0; n < images; ++n) {
    const float* first = &scores[n * kClasses];
    expected += std::max_element(first, first + kClasses) - first == labels[n];
  }
  const lab::Array<float> device_scores(scores);
  const lab::Array<int> device_labels(labels);
  lab::Table table("100 images");
  table.row("count_right", std::vector<int>{expected}, 0, [&](int* right) {
    for (int begin = 0; begin < images; begin += kBatch)
      count_right<<<1, kBatch>>>(device_scores + begin * kClasses, device_labels + begin, right);
  });
  return table.end();
}
