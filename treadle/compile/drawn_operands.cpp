#include "treadle/compile/drawn_operands.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "treadle/core/parallel_for.h"
#include "treadle/core/split_mix64.h"
#include "treadle/graph/apply.h"

namespace treadle {
namespace {

constexpr int kEighths = 8;

bool is_dense(const TensorView& view) {
  return view.defined() && view.numel() > 0 && (view.contiguous() || view.channels_last());
}

/// Of some thousand elements all over the operand, in eighths.
int zeros_in(const TensorView& view) {
  constexpr int64_t kMostElements = 4096;
  const int64_t count = view.numel(), step = std::max<int64_t>(count / kMostElements, 1) | 1;
  const float* elements = view.as<float>();
  int64_t zeros = 0, seen = 0;
  for (int64_t i = 0; i < count; i += step, ++seen) zeros += elements[i] == 0;
  return int(std::lround(double(kEighths * zeros) / double(seen)));
}

/// By input; 0 where it has none, is no dense one of f32, or is updated in place.
std::vector<int> zeros_by_input(const Op& op, const Call& call) {
  const std::vector<int> mutated = mutated_inputs(op, int(call.inputs.size()));
  std::vector<int> zeros;
  for (int i = 0; i < int(call.inputs.size()); ++i) {
    const TensorView& view = call.input(i);
    const bool counts = is_dense(view) && view.dtype == DType::f32 &&
                        std::find(mutated.begin(), mutated.end(), i) == mutated.end();
    zeros.push_back(counts ? zeros_in(view) : 0);
  }
  return zeros;
}

template <class T>
void copy_elements(const void* from, void* to, int64_t begin, const std::vector<int64_t>& places) {
  T* out = static_cast<T*>(to) + begin;
  for (const int64_t place : places) *out++ = static_cast<const T*>(from)[place];
}

void copy_elements(size_t element, const void* from, void* to, int64_t begin,
                   const std::vector<int64_t>& places) {
  switch (element) {
    case 1:
      return copy_elements<uint8_t>(from, to, begin, places);
    case 2:
      return copy_elements<uint16_t>(from, to, begin, places);
    case 4:
      return copy_elements<uint32_t>(from, to, begin, places);
    default:
      return copy_elements<uint64_t>(from, to, begin, places);
  }
}

}  // namespace

bool skips_zeros(const Op& op) {
  return std::any_of(op.variants.begin(), op.variants.end(), [](const Variant& variant) {
    return variant.device == DeviceKind::cpu && variant.skips_zeros;
  });
}

std::string describe_zeros(const Op& op, const Call& call) {
  if (!skips_zeros(op)) return "";
  std::string text = "zeros";
  for (const int zeros : zeros_by_input(op, call)) text += zeros ? fmt::format(" {}", zeros) : " -";
  return text;
}

DrawnOperands::DrawnOperands(const Op& op, const Call& call)
    : inputs_(call.inputs.begin(), call.inputs.end()),
      call_{inputs_, call.outputs, call.attributes, call.stream, call.scratch} {
  if (!skips_zeros(op)) return;
  const std::vector<int> zeros = zeros_by_input(op, call), mutated = mutated_inputs(op, int(inputs_.size()));
  std::vector<bool> taken(inputs_.size());
  for (const int i : mutated) taken[size_t(i)] = true;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (taken[i] || zeros[i] == 0 || zeros[i] == kEighths) continue;
    const TensorView like = inputs_[i];
    Group group{like.numel(), {}};
    for (size_t j = 0; j < inputs_.size(); ++j) {
      TensorView& view = inputs_[j];
      if (taken[j] || !view.defined() || view.shape != like.shape || view.strides != like.strides) continue;
      const size_t element = size_of(view.dtype);
      auto copy = make_intrusive<Storage>(kCpu, size_t(group.count) * element);
      std::memcpy(copy->data(), view.data, copy->bytes());
      group.operands.push_back({view.data, copy, element});
      view.data = copy->data();
      taken[j] = true;
    }
    groups_.push_back(std::move(group));
  }
}

void DrawnOperands::draw() {
  constexpr int64_t kBlock = 4096;
  for (const Group& group : groups_) {
    const uint64_t key = SplitMix64::mix(++key_);
    parallel_for((group.count + kBlock - 1) / kBlock, Nanoseconds{2 * kBlock},
                 [&](int64_t first, int64_t last) {
                   std::vector<int64_t> places;
                   for (int64_t block = first; block < last; ++block) {
                     SplitMix64 random(key + uint64_t(block));
                     const int64_t begin = block * kBlock;
                     places.resize(size_t(std::min(kBlock, group.count - begin)));
                     for (int64_t& place : places) place = int64_t(random.below(uint64_t(group.count)));
                     for (const Operand& operand : group.operands)
                       copy_elements(operand.element, operand.from, operand.copy->data(), begin, places);
                   }
                 });
  }
}

}  // namespace treadle
