/// Attention of float on the cpu device: for a block of queries of a head, scores, softmax and means one
/// after another in the cache. Work is spread over threads by heads and blocks of queries; each block is
/// computed alike whoever does it.
#include <algorithm>

#include "treadle/ops/attention/attention_shapes.h"
#include "treadle/ops/attention/cpu/heads.h"

namespace treadle {
namespace {

using namespace cpu;

/// Nanoseconds of a product with its sum, and of what softmax takes for a score.
constexpr double kProduct = 0.04, kScore = 0.5;

/// The mask as [..., L, S]; without data where there is none.
TensorView mask_of(const Call& call, const TensorView& weights) {
  TensorView mask{nullptr, weights.dtype, weights.shape, weights.strides};
  if (!call.has_input(3)) return mask;
  mask.data = call.input(3).data;
  mask.strides = broadcast_strides(call.input(3).shape, call.input(3).strides, weights.shape);
  return mask;
}

class Forward {
 public:
  explicit Forward(const Call& call)
      : options_(call.options<AttentionOptions>()),
        heads_({call.output(0), call.output(1), call.input(0), call.input(1), call.input(2),
                mask_of(call, call.output(1))}),
        scale_(float(attention_scale(options_, call.input(0).shape))),
        L_(call.input(0).shape[-2]),
        E_(call.input(0).shape[-1]),
        S_(call.input(1).shape[-2]),
        D_(call.input(2).shape[-1]),
        block_(queries_at_a_time(L_, S_)) {}

  void run(const Call& call) {
    if (heads_.count() == 0 || L_ == 0) return;
    const int64_t blocks = (L_ + block_ - 1) / block_, items = heads_.count() * blocks;
    const Nanoseconds each{double(block_ * S_) * (kScore + kProduct * double(E_ + D_))};
    const Cut cut(items, parts_worth(items, each));
    float* scratch = call.workspace<float>(cut.parts() * scratch_size());
    parallel_for_parts(cut, [&](int64_t part, Range range) {
      const Rooms rooms = rooms_in(scratch + part * scratch_size());
      for (int64_t item = range.begin, packed = -1; item < range.end; ++item) {
        const int64_t head = item / blocks;
        if (head != packed) pack(heads_[packed = head], rooms);
        attend(heads_[head], item % blocks * block_, rooms);
      }
    });
  }

 private:
  enum Operand { kY, kWeights, kQ, kK, kV, kMask, kOperands };
  using Head = Heads<kOperands>::Head;

  /// What one thread works in: keys and values of a head in panels, scores and results of a block of queries.
  struct Rooms {
    float *k, *v, *scores, *y;
  };

  int64_t scratch_size() const {
    return whole_panels(S_) * (E_ + block_) + whole_panels(D_) * (S_ + block_) + kPanel;
  }
  Rooms rooms_in(float* memory) const {
    float *k = memory, *v = k + whole_panels(S_) * E_, *scores = v + whole_panels(D_) * S_;
    return {k, v, scores, scores + whole_panels(S_) * block_};
  }

  void pack(const Head& head, const Rooms& rooms) const {
    pack_panels(head[kK].transposed(), E_, S_, rooms.k);
    pack_panels(head[kV], S_, D_, rooms.v);
  }

  /// The queries from `first` on; with `causal` the keys behind the last of them take no part.
  void attend(const Head& head, int64_t first, const Rooms& rooms) const {
    const int64_t rows = std::min(block_, L_ - first),
                  keys = options_.causal ? std::min(S_, first + rows) : S_;
    const int64_t step = whole_panels(keys);
    multiply_panels(rows, E_, head[kQ].from_row(first), {rooms.k, E_ * kPanel, panels_of(keys)}, rooms.scores,
                    step, false);
    const HeadMatrix mask = head[kMask];
    const HeadTarget weights = head.target(kWeights).from_row(first);
    softmax_scores({rooms.scores, rows, keys, step, scale_, mask.data ? mask.from_row(first) : mask,
                    options_.causal, first, weights.data, weights.row_step});
    for (int64_t i = 0; keys < S_ && i < rows; ++i)
      std::fill_n(weights.data + i * weights.row_step + keys, S_ - keys, 0.0f);
    multiply_into(rows, keys, {rooms.scores, step, 1}, rooms.v, S_ * kPanel, D_,
                  head.target(kY).from_row(first), rooms.y);
  }

  const AttentionOptions& options_;
  const Heads<kOperands> heads_;
  const float scale_;
  const int64_t L_, E_, S_, D_, block_;
};

void run(const Call& call) { Forward(call).run(call); }

}  // namespace

namespace ops {

void register_attention_cpu_attention(Registry& registry) {
  add_variant(
      registry, "attention",
      {.name = "simd", .device = DeviceKind::cpu, .run = run, .when = gives_floats, .preference = 20});
}

}  // namespace ops
}  // namespace treadle
