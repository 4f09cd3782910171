/// A grid of convolutions, and the ways to compute each of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "treadle/core/device.h"

namespace treadle::cli {

/// x [batch, channels, size, size], w [filters, channels, kernel, kernel], padded by kernel / 2, then 2×2
/// max-pooling and ReLU where `pool` is set.
struct ConvShape {
  int64_t channels, filters, size, kernel, stride;
  bool pool;
  int64_t batch = 0;

  int64_t output_size() const { return (size - 1) / stride + 1; }
  /// Multiply-adds × 2 of one call.
  double operations() const;
  std::string name() const;
};

/// At least 40 shapes: channels 1–512, sizes 7–64, kernels 1, 3, 5, strides 1 and 2, with and without pool.
/// The batch is `most_images`, or what `most_operations` in one call allow, but one image for each thread.
std::vector<ConvShape> conv_grid(int64_t most_images, double most_operations, int64_t threads);

/// One way to compute a shape: variants, layout, and a call on inputs of its own. `library` is set where the
/// convolution is oneDNN's.
struct ConvWay {
  std::string name;
  bool library;
  std::function<void()> run;
};

enum class ConvPass { forward, input_gradient, weight_gradient };

/// All ways that take the shape with `batch` images, in both layouts. Pooled shapes: the fused op where it is
/// there, and convolution, pooling and ReLU one after the other. A gradient starts from what its own forward
/// pass kept.
std::vector<ConvWay> conv_ways(const ConvShape& shape, int64_t batch, ConvPass pass);

}  // namespace treadle::cli
