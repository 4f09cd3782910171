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

/// Whose code a way runs.
enum class ConvKind {
  own,      ///< Treadle's own kernels alone
  library,  ///< oneDNN's convolution, and pooling and ReLU one after the other
  program   ///< a compiled function, whose variants are measured when it is first called
};

/// One way to compute a shape: a call on inputs of its own.
struct ConvWay {
  std::string name;  ///< variants and layout
  ConvKind kind;
  std::function<void()> run;
  /// The name once it has run; null where that is known before.
  std::function<std::string()> name_after_run = nullptr;
};

enum class ConvPass { forward, input_gradient, weight_gradient };

/// All ways that take the shape with `batch` images, in both layouts. Pooled shapes: the fused op for
/// Treadle's own ways and for programs, which fuse in any case. A gradient starts from the pooled one, of
/// which a share of `density` flows on; it is in the layout of the image. Of the library's ways no gradient
/// of the bias is asked for, which the fused op gives too.
std::vector<ConvWay> conv_ways(const ConvShape& shape, int64_t batch, ConvPass pass, double density);

}  // namespace treadle::cli
