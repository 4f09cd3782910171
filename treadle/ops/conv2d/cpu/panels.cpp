/// conv2d and conv2d_relu on the cpu device as products of windows and filters, f32, channels-last: each
/// window a row, bias and ReLU in the product. Filters of 1×1 read x where it lies. Chellapilla et al., High
/// Performance Convolutional Neural Networks for Document Processing, 2006.
#include <algorithm>

#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d/conv2d_geometry.h"
#include "treadle/ops/conv2d/conv2d_options.h"
#include "treadle/ops/conv2d/cpu/convolution_tasks.h"
#include "treadle/ops/conv2d/cpu/filter_columns.h"
#include "treadle/ops/conv2d/cpu/windows.h"
#include "treadle/ops/matrix/cpu/panel_parts.h"

namespace treadle {
namespace {

constexpr int64_t kBlockFloats = 64 * 1024;  ///< of windows that wait in L2 for their product
constexpr int64_t kFewestRows = 32;          ///< of a block: fewer would read the filters too often

/// A block of windows at a time, each by one thread.
void multiply_in_blocks(const Call& call, const Windows& windows, const cpu::PanelProduct& product,
                        int64_t parts) {
  const int64_t taps = product.K, most = std::max(kBlockFloats / taps, kFewestRows);
  const Cut blocks(product.M, divide_up(product.M, std::min(most, divide_up(product.M, parts))), 4);
  cpu::PanelProduct block = product;
  block.M = std::min(product.M, most + 4);
  const int64_t unfolded = whole_lines((most + 4) * taps * int64_t(sizeof(float))),
                size = unfolded + whole_lines(cpu::panel_scratch(block) * int64_t(sizeof(float)));
  std::byte* scratch = call.workspace<std::byte>(size * parts);
  parallel_for_each(blocks.parts(), parts, [&](int64_t part, int64_t i) {
    const Range range = blocks[i];
    float* const rows = reinterpret_cast<float*>(scratch + part * size);
    windows.unfold(product.a, range.begin, range.end, rows);
    cpu::PanelProduct own = product;
    own.M = range.size(), own.a = rows, own.c += range.begin * own.c_row;
    cpu::multiply_panels(own, reinterpret_cast<float*>(scratch + part * size + unfolded));
  });
}

template <bool Relu>
void run_panels(const Call& call) {
  const TensorView &x = call.input(0), &y = call.output();
  const Conv2dGeometry g = make_conv2d_geometry(x, call.input(1), y, call.options<Conv2dOptions>());
  const Windows windows{g};
  const int64_t count = windows.count(), taps = g.taps(), parts = parts_of(count * taps * g.K);
  cpu::PanelProduct product{
      count, g.K,           taps, x.as<float>(), g.x.strides[3], 1, filters_as_columns(call, g, g.K), g.K,
      1,     y.as<float>(), g.K};
  product.bias = bias_in_a_row(call, g.K), product.relu = Relu;
  if (windows.lie_in_x()) return linear_parts::multiply_panels_in_parts(call, product);
  product.a_row = taps;
  if (count * taps > kFewWindowFloats) return multiply_in_blocks(call, windows, product, parts);
  float* rows = call.workspace<float>(count * taps);
  parallel_for_parts(Cut(count, parts), [&](int64_t, Range range) {
    windows.unfold(x.as<float>(), range.begin, range.end, rows + range.begin * taps);
  });
  product.a = rows;
  linear_parts::multiply_panels_in_parts(call, product);
}

/// Whether channels are next to one another, and results are dense.
bool takes_panels(const Call& call) {
  const auto& o = call.options<Conv2dOptions>();
  const TensorView &x = call.input(0), &y = call.output();
  return x.dtype == DType::f32 && o.groups == 1 && x.numel() > 0 && (x.strides[1] == 1 || x.shape[1] == 1) &&
         y.channels_last();
}

}  // namespace

namespace ops {

void register_conv2d_cpu_panels(Registry& registry) {
  auto add = [&](const char* op, void (*run)(const Call&)) {
    add_variant(
        registry, op,
        {.name = "panels", .device = DeviceKind::cpu, .run = run, .when = takes_panels, .preference = 9});
  };
  add("conv2d", run_panels<false>);
  add("conv2d_relu", run_panels<true>);
}

}  // namespace ops
}  // namespace treadle
