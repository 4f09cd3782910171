/// The gradient of attention of float on the cpu device: head by head, spread over threads, and in each a
/// block of queries after another, so that the gradients of scores stay in the cache.
#include <algorithm>

#include "treadle/ops/attention/attention_shapes.h"
#include "treadle/ops/attention/cpu/heads.h"

namespace treadle {
namespace {

using namespace cpu;

/// Nanoseconds of a product with its sum, and of what softmax's gradient takes for a score.
constexpr double kProduct = 0.04, kScore = 0.3;

class Backward {
 public:
  explicit Backward(const Call& call)
      : heads_({call.output(0), call.output(1), call.output(2), call.input(0), call.input(1), call.input(2),
                call.input(3), call.input(4)}),
        scale_(float(attention_scale(call.options<AttentionOptions>(), call.input(0).shape))),
        L_(call.input(0).shape[-2]),
        E_(call.input(0).shape[-1]),
        S_(call.input(1).shape[-2]),
        D_(call.input(2).shape[-1]),
        block_(queries_at_a_time(L_, S_)) {}

  void run(const Call& call) {
    if (heads_.count() == 0) return;
    const Nanoseconds each{double(L_ * S_) * (kScore + 2 * kProduct * double(E_ + D_))};
    const Cut cut(heads_.count(), parts_worth(heads_.count(), each));
    float* scratch = call.workspace<float>(cut.parts() * scratch_size());
    parallel_for_parts(cut, [&](int64_t part, Range range) {
      const Rooms rooms = rooms_in(scratch + part * scratch_size());
      for (int64_t head = range.begin; head < range.end; ++head) differentiate(heads_[head], rooms);
    });
  }

 private:
  enum Operand { kDq, kDk, kDv, kQ, kK, kV, kWeights, kDy, kOperands };
  using Head = Heads<kOperands>::Head;

  /// What one thread works in: of a head k, vᵀ, dk and dv, of a block of queries q, dy, the weights, the
  /// gradients of scores and dq; k, vᵀ, q and dy in panels.
  struct Rooms {
    float *k, *v, *dk, *dv, *q, *dy, *weights, *ds, *dq;
  };

  int64_t scratch_size() const {
    return S_ * (2 * whole_panels(E_) + whole_panels(D_)) + D_ * whole_panels(S_) +
           block_ * (2 * whole_panels(E_) + whole_panels(D_) + 2 * whole_panels(S_)) + kPanel;
  }
  Rooms rooms_in(float* memory) const {
    auto take = [&](int64_t count) { return std::exchange(memory, memory + count); };
    const int64_t E = whole_panels(E_), S = whole_panels(S_), D = whole_panels(D_);
    Rooms rooms;
    rooms.k = take(S_ * E), rooms.v = take(D_ * S), rooms.dk = take(S_ * E), rooms.dv = take(S_ * D);
    rooms.q = take(block_ * E), rooms.dy = take(block_ * D), rooms.dq = take(block_ * E);
    rooms.weights = take(block_ * S), rooms.ds = take(block_ * S);
    return rooms;
  }

  void differentiate(const Head& head, const Rooms& rooms) const {
    pack_panels(head[kK], S_, E_, rooms.k);
    pack_panels(head[kV].transposed(), D_, S_, rooms.v);
    if (L_ == 0) {
      std::fill_n(rooms.dk, S_ * whole_panels(E_), 0.0f);
      std::fill_n(rooms.dv, S_ * whole_panels(D_), 0.0f);
    }
    for (int64_t first = 0; first < L_; first += block_) differentiate_block(head, first, rooms);
    store_rows(rooms.dk, whole_panels(E_), S_, E_, head.target(kDk));
    store_rows(rooms.dv, whole_panels(D_), S_, D_, head.target(kDv));
  }

  /// dq of the queries from `first` on, and what they add to dk and dv.
  void differentiate_block(const Head& head, int64_t first, const Rooms& rooms) const {
    const int64_t rows = std::min(block_, L_ - first), step = whole_panels(S_);
    const HeadMatrix q = head[kQ].from_row(first), dy = head[kDy].from_row(first), ds{rooms.ds, step, 1},
                     weights{rooms.weights, step, 1};
    load_rows(head[kWeights].from_row(first), rows, S_, step, rooms.weights);
    multiply_panels(rows, D_, dy, {rooms.v, D_ * kPanel, panels_of(S_)}, rooms.ds, step, false);
    softmax_scores_gradient(rows, step, scale_, rooms.weights, rooms.ds);
    multiply_into(rows, S_, ds, rooms.k, S_ * kPanel, E_, head.target(kDq).from_row(first), rooms.dq);
    pack_panels(q, rows, E_, rooms.q);
    multiply_panels(S_, rows, ds.transposed(), {rooms.q, rows * kPanel, panels_of(E_)}, rooms.dk,
                    whole_panels(E_), first > 0);
    pack_panels(dy, rows, D_, rooms.dy);
    multiply_panels(S_, rows, weights.transposed(), {rooms.dy, rows * kPanel, panels_of(D_)}, rooms.dv,
                    whole_panels(D_), first > 0);
  }

  const Heads<kOperands> heads_;
  const float scale_;
  const int64_t L_, E_, S_, D_, block_;
};

void run(const Call& call) { Backward(call).run(call); }

}  // namespace

namespace ops {

void register_attention_cpu_attention_gradient(Registry& registry) {
  add_variant(
      registry, "attention_gradient",
      {.name = "simd", .device = DeviceKind::cpu, .run = run, .when = gives_floats, .preference = 20});
}

}  // namespace ops
}  // namespace treadle
