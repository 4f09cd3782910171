// Convolution and its two gradients: which layout to compute in, and the reorders that this needs.
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "treadle/engines/onednn/plugin/functions.h"
#include "treadle/engines/onednn/plugin/primitive_descriptors.h"
#include "treadle/engines/onednn/plugin/thread_state.h"

namespace treadle::onednn {

namespace {

using Memory = dnnl::memory;
using Tag = Memory::format_tag;
using Layouts = std::vector<TreadleOnednnLayout>;

constexpr auto kGiven = TREADLE_ONEDNN_LAYOUT_GIVEN;
constexpr auto kPlain = TREADLE_ONEDNN_LAYOUT_PLAIN;
constexpr auto kBlocked = TREADLE_ONEDNN_LAYOUT_BLOCKED;

enum class Function { kForward, kInputGradient, kWeightGradient };

/// One convolution; for a gradient, x, w, b and y stand for dx, dw, db and dy where those are meant.
struct Problem {
  const TreadleOnednnConv2d& options;
  const Tensor& x;
  const Tensor& w;
  const Tensor* b;
  const Tensor& y;
};

/// Whether the elements lie densely with the dimensions in `order`, slowest first. Extents of 1 have no
/// stride.
bool is_dense(const Tensor& tensor, const int (&order)[4]) {
  int64_t expected = 1;
  for (int i = 3; i >= 0; --i) {
    const int d = order[i];
    if (tensor.shape[d] > 1 && tensor.strides[d] != expected) return false;
    expected *= tensor.shape[d];
  }
  return true;
}

bool is_plain(const Tensor& tensor) { return is_dense(tensor, {0, 1, 2, 3}); }
bool is_channels_last(const Tensor& tensor) { return is_dense(tensor, {0, 2, 3, 1}); }

/// One-channel images are both; then the other tensor decides.
bool is_channels_last(const Problem& p) {
  return is_channels_last(p.x) && is_channels_last(p.y) && !(is_plain(p.x) && is_plain(p.y));
}

Memory::dims shape_of(const Tensor& tensor) { return {tensor.shape, tensor.shape + tensor.rank}; }

Memory::desc describe_activation(const Tensor& tensor, bool channels_last) {
  const auto type = type_of(tensor);
  if (channels_last && is_channels_last(tensor)) return {shape_of(tensor), type, Tag::nhwc};
  if (is_plain(tensor)) return {shape_of(tensor), type, Tag::nchw};
  if (is_channels_last(tensor)) return {shape_of(tensor), type, Tag::nhwc};
  return {shape_of(tensor), type, Memory::dims(tensor.strides, tensor.strides + 4)};
}

/// With groups, oneDNN's weights are [groups, K/groups, C/groups, R, S].
Memory::dims filter_shape(const Problem& p) {
  Memory::dims shape = shape_of(p.w);
  if (p.options.groups == 1) return shape;
  shape[0] /= p.options.groups;
  shape.insert(shape.begin(), p.options.groups);
  return shape;
}

Memory::desc describe_filter(const Problem& p) {
  Memory::dims strides(p.w.strides, p.w.strides + 4);
  if (p.options.groups > 1) strides.insert(strides.begin(), strides[0] * (p.w.shape[0] / p.options.groups));
  return {filter_shape(p), type_of(p.w), strides};
}

Memory::desc describe_bias(const Tensor* b) {
  if (!b) return {};
  return {shape_of(*b), type_of(*b), Memory::dims{b->shape[0] == 1 ? 1 : b->strides[0]}};
}

Memory::desc dense_bias(const Tensor* b) {
  if (!b) return {};
  return {shape_of(*b), type_of(*b), Tag::x};
}

/// The caller's tensors as they lie in memory.
Conv2dMemory describe_given(const Problem& p, TreadleOnednnLayout layout) {
  const bool channels_last = layout != kPlain && is_channels_last(p);
  return {describe_activation(p.x, channels_last), describe_filter(p), describe_bias(p.b),
          describe_activation(p.y, channels_last)};
}

/// What to ask oneDNN for; it chooses the layout of the weights.
Conv2dMemory describe_wanted(const Problem& p, TreadleOnednnLayout layout) {
  Conv2dMemory wanted = describe_given(p, layout);
  wanted.w = {filter_shape(p), type_of(p.w), Tag::any};
  wanted.forward_w = {filter_shape(p), type_of(p.x), Tag::any};
  wanted.bias = dense_bias(p.b);
  if (layout == kGiven) return wanted;
  const Tag tag = layout == kPlain ? Tag::nchw : Tag::any;
  wanted.x = {shape_of(p.x), type_of(p.x), tag};
  wanted.y = {shape_of(p.y), type_of(p.y), tag};
  return wanted;
}

Conv2dGeometry geometry_of(const TreadleOnednnConv2d& o) {
  return {{o.stride[0], o.stride[1]},
          {o.dilation[0] - 1, o.dilation[1] - 1},
          {o.pad_begin[0], o.pad_begin[1]},
          {o.pad_end[0], o.pad_end[1]}};
}

bool has_avx512() { return has_isa(dnnl::cpu_isa::avx512_core); }

bool has_heavy_weights(const Problem& p) {
  constexpr int64_t kHeavy = 64 * 1024;  // elements: half of a 512 KiB second-level cache
  return p.w.shape[0] * p.w.shape[1] * p.w.shape[2] * p.w.shape[3] > kHeavy;
}

/// The best layout by measurement on AVX2 (Zen 3). The vector kernels like blocks and channels-last equally.
/// With few channels the matrix product of the plain layout is better, and where the gradient of the weights,
/// which a vector kernel adds up image by image, does not stay in the cache. AVX-512 kernels take any dense
/// layout; those of bf16 want neighbouring channels.
TreadleOnednnLayout automatic_layout(Function function, const Problem& p) {
  constexpr int64_t kVectorChannels = 8;
  const int64_t channels = p.w.shape[1];
  const bool channels_last = is_channels_last(p);
  const bool depthwise = channels == 1 && p.options.groups > 1;
  if (type_of(p.x) == Memory::data_type::bf16) return channels_last ? kGiven : kBlocked;
  if (has_avx512()) return kGiven;
  if (depthwise) return channels_last ? kGiven : kBlocked;
  if (function == Function::kInputGradient && channels == 1) return kPlain;
  if (function == Function::kInputGradient && channels < kVectorChannels) return kGiven;
  if (function == Function::kWeightGradient && has_heavy_weights(p)) return kPlain;
  return channels_last || channels == 1 ? kGiven : kBlocked;
}

/// Best first; the rest is there in case oneDNN serves the first with its reference loops only.
Layouts layouts_to_try(Function function, const Problem& p) {
  if (p.options.layout != TREADLE_ONEDNN_LAYOUT_AUTOMATIC)
    return {static_cast<TreadleOnednnLayout>(p.options.layout)};
  return {automatic_layout(function, p), kGiven, kBlocked, kPlain};
}

template <class Descriptor>
struct Choice {
  Descriptor descriptor;
  TreadleOnednnLayout layout;
};

/// The first layout that oneDNN serves with something better than its reference loops, else the first it
/// serves.
template <class Descriptor, class Describe>
Choice<Descriptor> choose(const Layouts& layouts, const Problem& p, Describe describe) {
  const dnnl::engine& engine = ThreadState::current().engine();
  std::optional<Choice<Descriptor>> slow;
  for (const TreadleOnednnLayout layout : layouts) {
    try {
      Choice<Descriptor> choice{
          describe(engine, describe_wanted(p, layout), geometry_of(p.options), default_attributes()), layout};
      if (!std::string_view(choice.descriptor.impl_info_str()).starts_with("ref")) return choice;
      if (!slow) slow = choice;
    } catch (const dnnl::error& error) {
      if (error.status != dnnl_unimplemented) throw;
    }
  }
  if (!slow) throw std::runtime_error("oneDNN implements no such convolution");
  return *slow;
}

void build_forward(Plan& plan, const Problem& p) {
  using Descriptor = ConvForward::primitive_desc;
  const auto choice = choose<Descriptor>(layouts_to_try(Function::kForward, p), p, describe_forward);
  const Descriptor& chosen = choice.descriptor;
  const Conv2dMemory given = describe_given(p, choice.layout);
  Arguments arguments{{DNNL_ARG_SRC, plan.input(0, given.x, chosen.src_desc())},
                      {DNNL_ARG_WEIGHTS, plan.input(1, given.w, chosen.weights_desc())},
                      {DNNL_ARG_DST, plan.output(3, given.y, chosen.dst_desc())}};
  if (p.b) arguments.emplace_back(DNNL_ARG_BIAS, plan.input(2, given.bias, chosen.bias_desc()));
  plan.add<ConvForward>(chosen, arguments);
  plan.set_implementation(chosen.impl_info_str());
}

void build_input_gradient(Plan& plan, const Problem& p) {
  using Descriptor = ConvInputGradient::primitive_desc;
  const auto choice =
      choose<Descriptor>(layouts_to_try(Function::kInputGradient, p), p, describe_input_gradient);
  const Descriptor& chosen = choice.descriptor;
  const Conv2dMemory given = describe_given(p, choice.layout);
  plan.add<ConvInputGradient>(chosen, {{DNNL_ARG_DIFF_DST, plan.input(3, given.y, chosen.diff_dst_desc())},
                                       {DNNL_ARG_WEIGHTS, plan.input(1, given.w, chosen.weights_desc())},
                                       {DNNL_ARG_DIFF_SRC, plan.output(0, given.x, chosen.diff_src_desc())}});
  plan.set_implementation(chosen.impl_info_str());
}

void build_weight_gradient(Plan& plan, const Problem& p) {
  using Descriptor = ConvWeightGradient::primitive_desc;
  const auto choice =
      choose<Descriptor>(layouts_to_try(Function::kWeightGradient, p), p, describe_weight_gradient);
  const Descriptor& chosen = choice.descriptor;
  const Conv2dMemory given = describe_given(p, choice.layout);
  Arguments arguments{{DNNL_ARG_SRC, plan.input(0, given.x, chosen.src_desc())},
                      {DNNL_ARG_DIFF_DST, plan.input(3, given.y, chosen.diff_dst_desc())},
                      {DNNL_ARG_DIFF_WEIGHTS, plan.output(1, given.w, chosen.diff_weights_desc())}};
  if (p.b) arguments.emplace_back(DNNL_ARG_DIFF_BIAS, plan.output(2, given.bias, chosen.diff_bias_desc()));
  plan.add<ConvWeightGradient>(chosen, arguments);
  plan.set_implementation(chosen.impl_info_str());
}

void require_extents(const Problem& p, int axis) {
  const TreadleOnednnConv2d& o = p.options;
  require(o.stride[axis] >= 1 && o.dilation[axis] >= 1, "conv2d: stride and dilation must be at least 1");
  const int64_t reach = o.dilation[axis] * (p.w.shape[2 + axis] - 1) + 1;
  const int64_t room = p.x.shape[2 + axis] + o.pad_begin[axis] + o.pad_end[axis] - reach;
  require(room >= 0 && p.y.shape[2 + axis] == room / o.stride[axis] + 1,
          "conv2d: the output's height or width does not follow from the input, filter and options");
}

void require_valid(const Problem& p) {
  onednn::require_valid(p.x, "x");
  onednn::require_valid(p.w, "w");
  onednn::require_valid(p.y, "y");
  require(p.x.rank == 4 && p.w.rank == 4 && p.y.rank == 4, "conv2d: x, w and y must have rank 4");
  const int64_t groups = p.options.groups;
  require(groups >= 1 && p.x.shape[1] == p.w.shape[1] * groups && p.w.shape[0] % groups == 0,
          "conv2d: channels do not fit weights and groups");
  require(p.y.shape[0] == p.x.shape[0] && p.y.shape[1] == p.w.shape[0],
          "conv2d: the output is not [N,K,P,Q] of this input and these weights");
  require(p.options.layout >= TREADLE_ONEDNN_LAYOUT_AUTOMATIC && p.options.layout <= kBlocked,
          "conv2d: unknown layout option");
  for (int axis = 0; axis < 2; ++axis) require_extents(p, axis);
  if (!p.b) return;
  onednn::require_valid(*p.b, "b");
  require(p.b->rank == 1 && p.b->shape[0] == p.w.shape[0], "conv2d: the bias must be [K]");
}

PlanKey key_of(Function function, const Problem& p) {
  PlanKey key;
  key.append(static_cast<int64_t>(function));
  for (int axis = 0; axis < 2; ++axis) {
    key.append(p.options.stride[axis]);
    key.append(p.options.pad_begin[axis]);
    key.append(p.options.pad_end[axis]);
    key.append(p.options.dilation[axis]);
  }
  key.append(p.options.groups);
  key.append(p.options.layout);
  for (const Tensor* tensor : {&p.x, &p.w, p.b, &p.y}) key.append(tensor);
  return key;
}

template <class Build>
void run(Function function, const Problem& p, Build build) {
  require_valid(p);
  ThreadState& state = ThreadState::current();
  Plan& plan = state.plan(key_of(function, p), [&](Plan& fresh) { build(fresh, p); });
  void* const data[] = {p.x.data, p.w.data, p.b ? p.b->data : nullptr, p.y.data};
  state.execute(plan, data);
}

}  // namespace

void conv2d_forward(const TreadleOnednnConv2d& options, const Tensor& x, const Tensor& w, const Tensor* b,
                    const Tensor& y) {
  run(Function::kForward, {options, x, w, b, y}, build_forward);
}

void conv2d_input_gradient(const TreadleOnednnConv2d& options, const Tensor& dy, const Tensor& w,
                           const Tensor& dx) {
  run(Function::kInputGradient, {options, dx, w, nullptr, dy}, build_input_gradient);
}

void conv2d_weight_gradient(const TreadleOnednnConv2d& options, const Tensor& x, const Tensor& dy,
                            const Tensor& dw, const Tensor* db) {
  run(Function::kWeightGradient, {options, x, dw, db, dy}, build_weight_gradient);
}

}  // namespace treadle::onednn
