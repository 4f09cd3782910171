/// The variants "loop" of the updates by a rule, on the cpu device: the elements of all parameters as one
/// range, cut among threads.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "treadle/graph/variant.h"
#include "treadle/ops/strided_operands.h"
#include "treadle/ops/update/cpu/update_row.h"
#include "treadle/simd/half_rows.h"

namespace treadle {
namespace update_loop {

inline constexpr Nanoseconds kElement{0.25};

/// A parameter and its operands, with the place of its elements among those of all parameters.
template <int N>
struct Group {
  Strided<N> nest;
  void* pointer[N];
  int64_t begin;
  int64_t end() const { return begin + nest.numel; }
};

template <int N>
Strided<N> nest_of(std::span<const TensorView> operands) {
  if (std::all_of(operands.begin(), operands.end(), [](const TensorView& x) { return x.contiguous(); })) {
    Strided<N> flat{.rank = 1, .numel = operands[0].numel(), .shape = {operands[0].numel()}, .strides = {}};
    for (auto& strides : flat.strides) strides[0] = 1;
    return flat;
  }
  std::array<Strides, N> strides;
  for (int k = 0; k < N; ++k) strides[k] = operands[k].strides;
  return make_strided<N>(operands[0].shape, strides);
}

/// The operands of a call in groups of N; empty parameters are left out. The thread's next call uses the list
/// again, so that a training step allocates nothing.
template <int N>
const std::vector<Group<N>>& groups_of(std::span<const TensorView> operands) {
  static thread_local std::vector<Group<N>> groups;
  groups.clear();
  groups.reserve(operands.size() / N);
  for (; !operands.empty(); operands = operands.subspan(N)) {
    if (operands[0].numel() == 0) continue;
    groups.push_back({nest_of<N>(operands.first(N)), {}, groups.empty() ? 0 : groups.back().end()});
    for (int k = 0; k < N; ++k) groups.back().pointer[k] = operands[k].data;
  }
  return groups;
}

/// Updates `count` elements that lie close together in each of the operands, which are of the type that the
/// step computes in.
using UpdateRow = void (*)(const void* step, int64_t count, void* const* operands);

/// A rule's step for operands of a type.
struct TypedStep {
  const void* step;
  UpdateRow run;
  DType dtype;
};

/// Elements of half types, as floats and a few hundred at a time.
template <int N>
void update_half_row(const TypedStep& step, const std::array<int64_t, N>& steps, int64_t count,
                     void* const (&operands)[N]) {
  constexpr int64_t kBlock = 256;
  constexpr int kGradient = 1;
  float floats[N][kBlock];
  void* rows[N];
  for (int k = 0; k < N; ++k) rows[k] = floats[k];
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t size = std::min(kBlock, count - begin);
    const auto place = [&](int k) { return element_at(operands[k], begin * steps[k], step.dtype); };
    for (int k = 0; k < N; ++k) halves_to_floats(step.dtype, place(k), steps[k], floats[k], size);
    step.run(step.step, size, rows);
    for (int k = 0; k < N; ++k)
      if (k != kGradient) floats_to_halves(step.dtype, floats[k], place(k), steps[k], size);
  }
}

/// One row; where it is not dense in all operands, element by element.
template <int N>
void update_row_of(const TypedStep& step, const std::array<int64_t, N>& steps, int64_t count,
                   void* (&operands)[N]) {
  if (is_half(step.dtype)) return update_half_row<N>(step, steps, count, operands);
  if (std::all_of(steps.begin(), steps.end(), [](int64_t x) { return x == 1; }))
    return step.run(step.step, count, operands);
  for (int64_t i = 0; i < count; ++i) {
    step.run(step.step, 1, operands);
    for (int k = 0; k < N; ++k) operands[k] = element_at(operands[k], steps[k], step.dtype);
  }
}

/// Elements [begin, end) of one parameter, row by row.
template <int N>
void update_part(const TypedStep& step, const Group<N>& group, int64_t begin, int64_t end) {
  const Strided<N>& nest = group.nest;
  const int inner = nest.rank - 1;
  std::array<int64_t, N> steps;
  for (int k = 0; k < N; ++k) steps[k] = nest.strides[k][inner];
  while (begin < end) {
    int64_t o[N];
    nest.offsets(begin, o);
    const int64_t count = std::min(end - begin, nest.shape[inner] - begin % nest.shape[inner]);
    void* operands[N];
    for (int k = 0; k < N; ++k) operands[k] = element_at(group.pointer[k], o[k], step.dtype);
    update_row_of<N>(step, steps, count, operands);
    begin += count;
  }
}

template <int N>
void update_groups(const TypedStep& step, const std::vector<Group<N>>& groups) {
  if (groups.empty()) return;
  parallel_for(groups.back().end(), kElement, [&](int64_t begin, int64_t end) {
    auto group = std::upper_bound(groups.begin(), groups.end(), begin,
                                  [](int64_t i, const Group<N>& g) { return i < g.end(); });
    for (; group != groups.end() && group->begin < end; ++group)
      update_part(step, *group, std::max(begin, group->begin) - group->begin,
                  std::min(end, group->end()) - group->begin);
  });
}

template <class C, class Step, size_t... K>
void run_row(const Step& step, int64_t count, void* const* operands, std::index_sequence<K...>) {
  update_row<C>(step, count, static_cast<C*>(operands[K])...);
}

/// A step computed in C, on operands of `dtype`.
template <class Rule, class C>
void update_in(const UpdateOptions<typename Rule::Options>& options, const StepNumbers& numbers, DType dtype,
               const std::vector<Group<kOperandsOf<Rule>>>& groups) {
  const StepOf<Rule, C> step = Rule::template step<C>(options, numbers);
  const UpdateRow run = [](const void* shared, int64_t count, void* const* operands) {
    run_row<C>(*static_cast<const StepOf<Rule, C>*>(shared), count, operands,
               std::make_index_sequence<kOperandsOf<Rule>>());
  };
  update_groups({&step, run, dtype}, groups);
}

/// The numbers of the step: input `place` where it is given, else those of the options.
template <class Options>
StepNumbers step_numbers(const Call& call, int place, const UpdateOptions<Options>& options) {
  return call.has_input(place) ? numbers_in(call.input(place)) : options.numbers();
}

/// `operands` in groups; the numbers of the step may be input `numbers`.
template <class Rule>
void run(const Call& call, std::span<const TensorView> operands, int numbers) {
  const auto& options = call.options<UpdateOptions<typename Rule::Options>>();
  const StepNumbers n = step_numbers(call, numbers, options);
  const auto& groups = groups_of<kOperandsOf<Rule>>(operands);
  const DType dtype = operands[0].dtype;
  dtype == DType::f64 ? update_in<Rule, double>(options, n, dtype, groups)
                      : update_in<Rule, float>(options, n, dtype, groups);
}

template <class Rule>
void run_one(const Call& call) {
  run<Rule>(call, call.inputs.first(kOperandsOf<Rule>), kOperandsOf<Rule>);
}

template <class Rule>
void run_all(const Call& call) {
  run<Rule>(call, call.inputs.subspan(1), 0);
}

}  // namespace update_loop

template <class Rule>
void register_update_loop(Registry& registry) {
  using namespace update_loop;
  add_variant(registry, Rule::kName, {.name = "loop", .device = DeviceKind::cpu, .run = run_one<Rule>});
  add_variant(registry, name_of_all<Rule>().c_str(),
              {.name = "loop", .device = DeviceKind::cpu, .run = run_all<Rule>});
}

}  // namespace treadle
