/// The cpu variants of linear updates: "loop" is the general one, "panels", "listed" and "split_k" (f32)
/// update each block of the gradient while it is in the cache, or in registers.
#pragma once

#include "treadle/core/parallel_for.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/matrix/cpu/gradient_blocks.h"
#include "treadle/ops/matrix/linear_update_operands.h"
#include "treadle/ops/update/cpu/update_row.h"

namespace treadle {
namespace linear_update_cpu {

template <class Rule>
inline constexpr int kTensors = kOperandsOf<Rule> - 1;

template <class Rule, class C>
StepOf<Rule, C> step_of(const Call& call) {
  return Rule::template step<C>(call.options<typename Rule::Options>(),
                                numbers_in(call.input(kNumbersOfLinearUpdate)));
}

/// Rows [begin, end) of w and elements of b.
template <class T, class Step, int K>
void update_rows(const LinearUpdateOperands<K>& p, const Step& step, int64_t begin, int64_t end) {
  using C = HostCompute<T>;
  auto sum = [&](auto term) {
    C total = 0;
    for (int64_t n = 0; n < p.N; ++n) total += term(n);
    return total;
  };
  for (int64_t o = begin; o < end; ++o) {
    auto dy = [&](int64_t n) { return C(p.template dy_at<T>(n, o)); };
    for (int64_t i = 0; i < p.in; ++i)
      update_at<T>(step, p.w, o, i, sum([&](int64_t n) { return dy(n) * C(p.template x_at<T>(n, i)); }));
    if (p.b.defined()) update_at<T>(step, p.b, o, 0, sum(dy));
  }
}

/// Any strides, any dtype.
template <class Rule>
void run_loop(const Call& call) {
  constexpr double kProduct = 0.2;  // nanoseconds
  const auto p = linear_update_operands<kTensors<Rule>>(call);
  const Nanoseconds row{kProduct * double(p.N * p.in)};
  with_floating_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto step = step_of<Rule, HostCompute<T>>(call);
    parallel_for(p.out, row, [&](int64_t begin, int64_t end) { update_rows<T>(p, step, begin, end); });
  });
}

/// The rule's step along the rows of blocks.
template <class Rule>
class BlockUpdate {
 public:
  explicit BlockUpdate(const Call& call) : call_(call), step_(step_of<Rule, float>(call)) {}
  BlockConsumer consumer() const {
    return {[](const void* self, const GradientBlock& block) {
              static_cast<const BlockUpdate*>(self)->take(block,
                                                          std::make_index_sequence<Rule::kSlots.size()>());
            },
            this};
  }

 private:
  template <size_t... K>
  void take(const GradientBlock& block, std::index_sequence<K...>) const {
    const int first = kParametersOfLinearUpdate + (block.of_bias ? kTensors<Rule> : 0);
    auto tensor = [&](size_t k, int64_t at) { return call_.input(first + int(k)).as<float>() + at; };
    for (int64_t i = 0; i < block.rows; ++i) {
      const int64_t at = block.first + i * block.row;
      update_row<float>(step_, block.columns, tensor(0, at), block.gradient + i * block.gradient_row,
                        tensor(K + 1, at)...);
    }
  }

  const Call& call_;
  StepOf<Rule, float> step_;
};

template <class Rule>
inline constexpr bool kInRegisters = std::is_same_v<StepOf<Rule, float>, DecayedStep<float>>;

template <class Rule>
void run_panels(const Call& call) {
  if constexpr (kInRegisters<Rule>)
    update_by_panels(call, step_of<Rule, float>(call));
  else
    gradient_by_panels(call, kTensors<Rule>, BlockUpdate<Rule>(call).consumer());
}

template <class Rule>
void run_lists(const Call& call) {
  if constexpr (kInRegisters<Rule>)
    update_by_lists(call, step_of<Rule, float>(call));
  else
    gradient_by_lists(call, kTensors<Rule>, BlockUpdate<Rule>(call).consumer());
}

template <class Rule>
void run_split_k(const Call& call) {
  gradient_by_split_k(call, kTensors<Rule>, BlockUpdate<Rule>(call).consumer());
}

}  // namespace linear_update_cpu

template <class Rule>
void register_linear_update_variants(Registry& registry) {
  using namespace linear_update_cpu;
  const std::string op = name_of_linear_update<Rule>();
  auto add = [&](const Variant& variant) { add_variant(registry, op.c_str(), variant); };
  add({.name = "loop", .device = DeviceKind::cpu, .run = run_loop<Rule>});
  add({.name = "panels",
       .device = DeviceKind::cpu,
       .run = run_panels<Rule>,
       .when = [](const Call& call) { return takes_panels(call, kTensors<Rule>); },
       .preference = 30});
  add({.name = "split_k",
       .device = DeviceKind::cpu,
       .run = run_split_k<Rule>,
       .when = [](const Call& call) { return takes_split_k(call, kTensors<Rule>); },
       .preference = 31});
  // Behind the dense ones where nothing is measured: it is slower where x has few zeros.
  add({.name = "listed",
       .device = DeviceKind::cpu,
       .run = run_lists<Rule>,
       .when = [](const Call& call) { return takes_lists(call, kTensors<Rule>); },
       .preference = 25,
       .skips_zeros = true});
}

}  // namespace treadle
