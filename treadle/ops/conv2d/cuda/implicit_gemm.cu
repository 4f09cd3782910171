/// conv2d and its gradients as matrix products whose operands are gathered on the way into shared memory;
/// nothing is unfolded in global memory. Chetlur et al., cuDNN: Efficient Primitives for Deep Learning, 2014.
///
///   op                       rows            columns         depth: what is summed over
///   conv2d                   n, p, q         filters         channels, r, s
///   conv2d_input_gradient    n, h, w         channels        filters, r, s
///   conv2d_weight_gradient   filters         channels, r, s  n, p, q; cut into splits that are added
///   afterwards
#include "treadle/ops/conv2d/cuda/conv2d_taps.cuh"
#include "treadle/ops/device_variant.h"

namespace treadle::TREADLE_TARGET {

constexpr int kTile = 64;   ///< rows and columns of the product per block
constexpr int kDepth = 16;  ///< terms per step
constexpr int kPerThread = 4;
constexpr int kPitch =
    kTile + 2;  ///< of a tile in shared memory: a warp stores 16 depths of 2 rows into 32 banks
constexpr int64_t kLargest = 1 << 30;

template <class T>
struct ForwardProduct {
  Conv2dGeometry g;
  const T *x, *w, *b;
  int64_t b_stride;
  T* y;
  int rows, columns, depth;

  struct Row {
    int64_t x_offset, y_offset;
    int h, w;
  };
  struct Column {
    int64_t w_offset;
    int filter;
  };
  struct Depth {
    int64_t x_offset, w_offset;
    int h, w;
  };
  __device__ Row row(int group, int index) const {
    const Place at = place_at(index, int(g.P), int(g.Q));
    const int h = int(g.row(at.h, 0)), v = int(g.column(at.w, 0));
    return {g.x.at(at.n, group * g.channels, h, v), g.y.at(at.n, 0, at.h, at.w), h, v};
  }
  __device__ Column column(int group, int index) const {
    const int filter = int(group * g.filters) + index;
    return {g.w.at(filter, 0, 0, 0), filter};
  }
  __device__ Depth at_depth(int, int index) const {
    const Tap tap = tap_at(g, index, int(g.channels), g.x.channels_last);
    const int h = tap.r * int(g.dilation.height), v = tap.s * int(g.dilation.width);
    return {g.x.at(0, tap.feature, h, v), g.w.at(0, tap.feature, tap.r, tap.s), h, v};
  }
  __device__ Compute<T> left(const Row& row, const Depth& d) const {
    return g.inside(row.h + d.h, row.w + d.w) ? Compute<T>(x[row.x_offset + d.x_offset]) : Compute<T>(0);
  }
  __device__ Compute<T> right(const Column& column, const Depth& d) const {
    return Compute<T>(w[column.w_offset + d.w_offset]);
  }
  __device__ void store(const Row& row, const Column& column, int, Compute<T> sum) const {
    if (b) sum += Compute<T>(b[column.filter * b_stride]);
    y[row.y_offset + column.filter * g.y.strides[1]] = T(sum);
  }
};

template <class T>
struct InputGradientProduct {
  Conv2dGeometry g;
  const T *dy, *w;
  T* dx;
  int rows, columns, depth;

  struct Row {
    int64_t dy_offset, dx_offset;
    int h, w;
  };
  struct Column {
    int64_t w_offset, dx_offset;
  };
  struct Depth {
    int64_t dy_offset, w_offset;
    int r, s;
  };
  __device__ Row row(int group, int index) const {
    const Place at = place_at(index, int(g.H), int(g.W));
    return {g.y.at(at.n, group * g.filters, 0, 0), g.x.at(at.n, group * g.channels, at.h, at.w), at.h, at.w};
  }
  __device__ Column column(int group, int index) const {
    return {g.w.at(group * g.filters, index, 0, 0), g.x.at(0, index, 0, 0)};
  }
  __device__ Depth at_depth(int, int index) const {
    const Tap tap = tap_at(g, index, int(g.filters), g.y.channels_last);
    return {g.y.at(0, tap.feature, 0, 0), g.w.at(tap.feature, 0, tap.r, tap.s), tap.r, tap.s};
  }
  __device__ Compute<T> left(const Row& row, const Depth& d) const {
    // 32-bit division is several times cheaper on a GPU.
    const int p =
        window_at(row.h, d.r, int(g.stride.height), int(g.dilation.height), int(g.padding.height), int(g.P));
    const int q =
        window_at(row.w, d.s, int(g.stride.width), int(g.dilation.width), int(g.padding.width), int(g.Q));
    if (p < 0 || q < 0) return 0;
    return Compute<T>(dy[row.dy_offset + d.dy_offset + g.y.at(0, 0, p, q)]);
  }
  __device__ Compute<T> right(const Column& column, const Depth& d) const {
    return Compute<T>(w[column.w_offset + d.w_offset]);
  }
  __device__ void store(const Row& row, const Column& column, int, Compute<T> sum) const {
    dx[row.dx_offset + column.dx_offset] = T(sum);
  }
};

template <class T>
struct WeightGradientProduct {
  Conv2dGeometry g;
  const T *x, *dy;
  T* dw;
  Compute<T>* partial;  ///< [splits, numel of dw] when there are several splits
  int rows, columns, depth;

  struct Row {
    int64_t dy_offset, dw_offset;
  };
  struct Column {
    int64_t x_offset, dw_offset;
    int h, w;
  };
  struct Depth {
    int64_t x_offset, dy_offset;
    int h, w;
  };
  __device__ Row row(int group, int index) const {
    const int64_t filter = group * g.filters + index;
    return {g.y.at(0, filter, 0, 0), g.w.at(filter, 0, 0, 0)};
  }
  __device__ Column column(int group, int index) const {
    const Tap tap = tap_at(g, index, int(g.channels), false);
    const int h = tap.r * int(g.dilation.height), v = tap.s * int(g.dilation.width);
    return {g.x.at(0, group * g.channels + tap.feature, h, v), g.w.at(0, tap.feature, tap.r, tap.s), h, v};
  }
  __device__ Depth at_depth(int, int index) const {
    const Place at = place_at(index, int(g.P), int(g.Q));
    const int h = int(g.row(at.h, 0)), v = int(g.column(at.w, 0));
    return {g.x.at(at.n, 0, h, v), g.y.at(at.n, 0, at.h, at.w), h, v};
  }
  __device__ Compute<T> left(const Row& row, const Depth& d) const {
    return Compute<T>(dy[row.dy_offset + d.dy_offset]);
  }
  __device__ Compute<T> right(const Column& column, const Depth& d) const {
    return g.inside(column.h + d.h, column.w + d.w) ? Compute<T>(x[column.x_offset + d.x_offset])
                                                    : Compute<T>(0);
  }
  __device__ void store(const Row& row, const Column& column, int split, Compute<T> sum) const {
    const int64_t element = row.dw_offset + column.dw_offset;
    if (partial)
      partial[split * (g.K * g.channels * g.R * g.S) + element] = sum;
    else
      dw[element] = T(sum);
  }
};

/// Block (i, j, split·groups + group) owns 64 × 64 elements of the group's product, thread (tx, ty) those in
/// rows ty + 16·a and columns tx + 16·b. Each operand is read 1/64 as often as by one thread per element: per
/// step and thread 8 loads and 64 bytes of shared memory for 256 products.
template <class Product, class C>
__global__ void conv2d_implicit_gemm(Product product, int groups, int terms_per_split) {
  C* left = dynamic_shared<C>();
  C* right = left + kDepth * kPitch;
  const int tx = int(threadIdx.x) % kDepth, ty = int(threadIdx.x) / kDepth;
  const int group = int(blockIdx.z) % groups, split = int(blockIdx.z) / groups;
  const int first_row = int(blockIdx.x) * kTile + ty, first_column = int(blockIdx.y) * kTile;
  typename Product::Row rows[kPerThread];
  typename Product::Column columns[kPerThread];
  UNROLL(4)
  for (int a = 0; a < kPerThread; ++a) {
    const int row = first_row + a * kDepth, column = first_column + ty + a * kDepth;
    rows[a] = product.row(group, row < product.rows ? row : 0);
    columns[a] = product.column(group, column < product.columns ? column : 0);
  }

  C sums[kPerThread][kPerThread] = {};
  const int begin = split * terms_per_split;
  const int end = product.depth - begin < terms_per_split ? product.depth : begin + terms_per_split;
  for (int step = begin; step < end; step += kDepth) {
    const bool inside = step + tx < end;
    const auto depth = product.at_depth(group, inside ? step + tx : begin);
    UNROLL(4)
    for (int a = 0; a < kPerThread; ++a) {
      const int row = first_row + a * kDepth, column = first_column + ty + a * kDepth;
      left[tx * kPitch + ty + a * kDepth] =
          inside && row < product.rows ? product.left(rows[a], depth) : C(0);
      right[tx * kPitch + ty + a * kDepth] =
          inside && column < product.columns ? product.right(columns[a], depth) : C(0);
    }
    __syncthreads();
    UNROLL(16)
    for (int k = 0; k < kDepth; ++k) UNROLL(4)
    for (int a = 0; a < kPerThread; ++a) UNROLL(4)
    for (int b = 0; b < kPerThread; ++b)
      sums[a][b] += left[k * kPitch + ty + a * kDepth] * right[k * kPitch + tx + b * kDepth];
    __syncthreads();
  }

  UNROLL(4)
  for (int b = 0; b < kPerThread; ++b) {
    const int column = first_column + tx + b * kDepth;
    if (column >= product.columns) continue;
    const auto target = product.column(group, column);
    UNROLL(4)
    for (int a = 0; a < kPerThread; ++a)
      if (first_row + a * kDepth < product.rows) product.store(rows[a], target, split, sums[a][b]);
  }
}

/// Thread i owns element i of dw: adds the splits' sums in order. Reads splits · 4 bytes, writes one element.
template <class T>
__global__ void conv2d_weight_gradient_add_splits(const Compute<T>* partial, int splits, int64_t count,
                                                  T* dw) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Compute<T> sum = 0;
  for (int split = 0; split < splits; ++split) sum += partial[split * count + i];
  dw[i] = T(sum);
}

namespace {

template <class C, class Product>
void launch_product(const Call& call, const Product& product, int64_t groups, int splits,
                    int terms_per_split) {
  const dim3 grid(blocks_for(product.rows, kTile), blocks_for(product.columns, kTile),
                  unsigned(groups * splits));
  launch<conv2d_implicit_gemm<Product, C>>(stream_of(call), grid, kDepth * kDepth,
                                           2 * kDepth * kPitch * sizeof(C), product, int(groups),
                                           terms_per_split);
}

void run_forward(const Call& call) {
  const TensorView &x = call.input(0), &w = call.input(1), &y = call.output();
  const auto g = make_conv2d_geometry(x, w, y, call.options<Conv2dOptions>());
  const bool biased = call.has_input(2);
  with_floating_device_type(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const ForwardProduct<T> product{g,
                                    x.as<T>(),
                                    w.as<T>(),
                                    biased ? call.input(2).as<T>() : nullptr,
                                    biased ? call.input(2).strides[0] : 0,
                                    y.as<T>(),
                                    int(g.N * g.P * g.Q),
                                    int(g.filters),
                                    int(g.channels * g.R * g.S)};
    launch_product<Compute<T>>(call, product, g.groups, 1, product.depth);
  });
}

void run_input_gradient(const Call& call) {
  const TensorView &dy = call.input(0), &w = call.input(1), &dx = call.output();
  const auto g = make_conv2d_geometry(dx, w, dy, call.options<Conv2dInputGradientOptions>());
  with_floating_device_type(dy.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const InputGradientProduct<T> product{g,
                                          dy.as<T>(),
                                          w.as<T>(),
                                          dx.as<T>(),
                                          int(g.N * g.H * g.W),
                                          int(g.channels),
                                          int(g.filters * g.R * g.S)};
    launch_product<Compute<T>>(call, product, g.groups, 1, product.depth);
  });
}

/// Splits of the sum over n, p, q: enough blocks to fill a large GPU, each with at least 16 steps. The same
/// for every device, so that results do not depend on it.
int weight_gradient_splits(const Conv2dGeometry& g) {
  const int64_t tiles = blocks_for(g.filters, kTile) * blocks_for(g.channels * g.R * g.S, kTile) * g.groups;
  const int64_t wanted = (512 + tiles - 1) / tiles, possible = g.N * g.P * g.Q / (16 * kDepth);
  return int(wanted < possible ? wanted : possible > 1 ? possible : 1);
}

void run_weight_gradient(const Call& call) {
  const TensorView &x = call.input(0), &dy = call.input(1), &dw = call.output();
  const auto g = make_conv2d_geometry(x, dw, dy, call.options<Conv2dWeightGradientOptions>());
  const int splits = weight_gradient_splits(g);
  with_floating_device_type(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    C* partial = splits > 1 ? call.workspace<C>(splits * dw.numel()) : nullptr;
    const int depth = int(g.N * g.P * g.Q), terms = (depth + splits - 1) / splits;
    const WeightGradientProduct<T> product{
        g, x.as<T>(), dy.as<T>(), dw.as<T>(), partial, int(g.filters), int(g.channels * g.R * g.S), depth};
    launch_product<C>(call, product, g.groups, splits, terms);
    if (partial)
      launch<conv2d_weight_gradient_add_splits<T>, independent>(
          stream_of(call), blocks_for(dw.numel()), kThreads, 0, partial, splits, dw.numel(), dw.as<T>());
  });
}

constexpr int64_t kFewest = 4;                   ///< columns of a product that are worth a tile of 64
constexpr int64_t kMostColumns = 65535 * kTile;  ///< as many tiles as a grid's second axis holds

bool fits_columns(int64_t columns) { return columns >= kFewest && columns <= kMostColumns; }

/// Rows, columns and depths are counted in 32 bits, groups are blocks.
bool fits(const Call& call, const Conv2dOptions& options) {
  for (const TensorView* view : {&call.input(0), &call.input(1), &call.output()})
    if (view->numel() >= kLargest) return false;
  return options.groups <= 1024;
}

bool takes_forward(const Call& call) {
  const auto& options = call.options<Conv2dOptions>();
  return fits(call, options) && fits_columns(call.output().shape[1] / options.groups);
}
bool takes_input_gradient(const Call& call) {
  const auto& options = call.options<Conv2dInputGradientOptions>();
  return fits(call, options) && fits_columns(call.output().shape[1] / options.groups);
}
bool takes_weight_gradient(const Call& call) {
  const auto& options = call.options<Conv2dWeightGradientOptions>();
  const Shape& dw = call.output().shape;
  return fits(call, options) && dw[0] / options.groups >= kFewest && fits_columns(dw[1] * dw[2] * dw[3]);
}

}  // namespace

void register_conv2d_cuda_implicit_gemm(Registry& registry) {
  add_variant(registry, "conv2d",
              {.name = "implicit_gemm",
               .device = kDevice,
               .run = run_forward,
               .when = takes_forward,
               .preference = 10,
               .rung = 3,
               .idea = "windows are gathered on the way into shared memory: nothing is written out"});
  auto add = [&](const char* op, void (*run)(const Call&), bool (*when)(const Call&)) {
    add_variant(registry, op,
                {.name = "implicit_gemm", .device = kDevice, .run = run, .when = when, .preference = 10});
  };
  add("conv2d_input_gradient", run_input_gradient, takes_input_gradient);
  add("conv2d_weight_gradient", run_weight_gradient, takes_weight_gradient);
}

}  // namespace treadle::TREADLE_TARGET
