/// The variants "loop" of the updates by a rule, on the cpu device: the elements of all parameters as one
/// range, cut among threads.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "treadle/graph/variant.h"
#include "treadle/ops/strided_operands.h"
#include "treadle/ops/update/cpu/update_row.h"

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

/// Elements [begin, end) of one parameter, row by row; rows that are not dense in all operands element by
/// element.
template <class T, class Step, int N, size_t... K>
void update_part(const Step& step, const Group<N>& group, int64_t begin, int64_t end,
                 std::index_sequence<K...>) {
  const Strided<N>& nest = group.nest;
  const int inner = nest.rank - 1;
  const bool dense = ((nest.strides[K][inner] == 1) && ...);
  while (begin < end) {
    int64_t o[N];
    nest.offsets(begin, o);
    const int64_t count = std::min(end - begin, nest.shape[inner] - begin % nest.shape[inner]);
    if (dense) {
      update_row<T>(step, count, static_cast<T*>(group.pointer[K]) + o[K]...);
    } else {
      for (int64_t i = 0; i < count; ++i)
        update_row<T>(step, 1, static_cast<T*>(group.pointer[K]) + o[K] + i * nest.strides[K][inner]...);
    }
    begin += count;
  }
}

template <class T, class Step, int N>
void update_groups(const Step& step, const std::vector<Group<N>>& groups) {
  if (groups.empty()) return;
  parallel_for(groups.back().end(), kElement, [&](int64_t begin, int64_t end) {
    auto group = std::upper_bound(groups.begin(), groups.end(), begin,
                                  [](int64_t i, const Group<N>& g) { return i < g.end(); });
    for (; group != groups.end() && group->begin < end; ++group)
      update_part<T>(step, *group, std::max(begin, group->begin) - group->begin,
                     std::min(end, group->end()) - group->begin, std::make_index_sequence<N>{});
  });
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
  with_floating_type(operands[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    update_groups<T>(Rule::template step<HostCompute<T>>(options, n), groups);
  });
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
