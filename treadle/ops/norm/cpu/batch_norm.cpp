/// Batch normalisation of f32 on the cpu device, forward and back: one pass over x for what is summed, one
/// that writes the result, ReLU and residual included.
///
/// Images are cut into parts by shape alone, which any thread may take, and parts into pieces that stay in
/// the cache. Sums within a piece are in f32, over pieces and parts in double and in order: results depend on
/// no thread. Memory: forward 12 bytes an element (16 with a residual), back 20 (28 with ReLU and residual).
#include <algorithm>
#include <cmath>

#include "treadle/core/parallel_for.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/norm/batch_norm_gradient.h"
#include "treadle/ops/norm/cpu/channel_loops.h"

namespace treadle {
namespace {

using cpu::ChannelPiece;

constexpr int64_t kPieceSize = 8192;  ///< elements: 32 KiB
constexpr int64_t kParts = 64;        ///< of a call
constexpr double kElement = 0.3;      ///< nanoseconds, for a pass

/// x [N, C, …] as rows or planes in pieces. All operands of its shape lie alike.
class Pieces {
 public:
  explicit Pieces(const TensorView& x) : channels_(x.shape[1]) {
    const int64_t images = x.shape[0], places = x.numel() / std::max<int64_t>(images * channels_, 1);
    planes_ = places > 1 && !x.channels_last();
    rows_ = planes_ ? images : images * places;
    places_ = planes_ ? places : 1;
    rows_of_piece_ = planes_ ? 1 : std::max<int64_t>(kPieceSize / std::max<int64_t>(channels_, 1), 1);
  }
  int64_t channels() const { return channels_; }
  /// Elements of each channel, in a part and in all.
  int64_t count(Range part) const { return part.size() * places_; }
  int64_t count() const { return rows_ * places_; }
  /// Rows, or images, in parts.
  Cut parts() const { return Cut(rows_, kParts, rows_of_piece_); }
  Nanoseconds cost_of_part() const {
    return {kElement * double(rows_ * channels_ * places_) / double(std::max<int64_t>(parts().parts(), 1))};
  }
  /// Calls f(piece, its first element) for the pieces of a part.
  template <class F>
  void for_each(Range part, F f) const {
    for (int64_t row = part.begin; row < part.end; row += rows_of_piece_)
      f(ChannelPiece{planes_, std::min(rows_of_piece_, part.end - row), channels_, places_},
        row * channels_ * places_);
  }
  /// The same for all, spread over threads.
  template <class F>
  void for_all(F f) const {
    const Cut cut = parts();
    parallel_for(cut.parts(), cost_of_part(), [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) for_each(cut[part], f);
    });
  }

 private:
  int64_t channels_, rows_, places_, rows_of_piece_;
  bool planes_;
};

/// Of one part: two numbers for each channel, and scratch memory for those of a piece.
struct PartSums {
  double *first, *second;
  float *piece_first, *piece_second;
};

/// Runs add(range, sums) for each part, then take(range, sums) for each part in order. A thread adds its last
/// part first: what was written before ends there, and the pass behind begins where this one ends, so that
/// both find in the cache as much as it holds. That changes no bit, as parts are sums of their own.
template <class Add, class Take>
void reduce(const Call& call, const Pieces& pieces, Add add, Take take) {
  const Cut cut = pieces.parts();
  const int64_t C = pieces.channels();
  double* const doubles = call.workspace<double>(cut.parts() * C * 2);
  float* const floats = call.workspace<float>(cut.parts() * C * 2);
  auto sums_of = [&](int64_t part) {
    double* const first = doubles + part * C * 2;
    float* const of_piece = floats + part * C * 2;
    return PartSums{first, first + C, of_piece, of_piece + C};
  };
  parallel_for(cut.parts(), pieces.cost_of_part(), [&](int64_t begin, int64_t end) {
    for (int64_t part = end; part-- > begin;) {
      const PartSums sums = sums_of(part);
      std::fill_n(sums.first, C * 2, 0.0);
      add(cut[part], sums);
    }
  });
  for (int64_t part = 0; part < cut.parts(); ++part) take(cut[part], sums_of(part));
}

/// Mean and Σ (x - mean)² of so many elements, joined with others: Chan, Golub and LeVeque, Updating Formulae
/// and a Pairwise Algorithm for Computing Sample Variances, 1979.
struct Moments {
  double &mean, &squares;
  void join(int64_t count, int64_t other_count, double other_mean, double other_squares) {
    const double distance = other_mean - mean, share = double(other_count) / double(count + other_count);
    mean += distance * share;
    squares += other_squares + distance * distance * share * double(count);
  }
};

/// The moments of each channel in a part. A piece's mean is the mean distance from the first elements: that
/// of a constant channel is exact.
void add_moments(const Pieces& pieces, Range part, const float* x, const float* origin,
                 const PartSums& sums) {
  const int64_t C = pieces.channels();
  float *const mean = sums.piece_first, *const squares = sums.piece_second;
  int64_t done = 0;
  pieces.for_each(part, [&](const ChannelPiece& piece, int64_t first) {
    std::fill_n(mean, C, 0.f), std::fill_n(squares, C, 0.f);
    cpu::add_distances(piece, x + first, origin, mean);
    for (int64_t c = 0; c < C; ++c) mean[c] = origin[c] + mean[c] / float(piece.count());
    cpu::add_squares(piece, x + first, mean, squares);
    for (int64_t c = 0; c < C; ++c)
      Moments{sums.first[c], sums.second[c]}.join(done, piece.count(), mean[c], squares[c]);
    done += piece.count();
  });
}

void find_statistics(const Call& call, const Pieces& pieces, float* mean, float* variance) {
  const int64_t C = pieces.channels();
  const TensorView& view = call.input(0);
  const float* const x = view.as<float>();
  float* const origin = call.workspace<float>(C);
  for (int64_t c = 0; c < C; ++c) origin[c] = x[c * view.strides[1]];
  double* const means = call.workspace<double>(2 * C);
  double* const squares = means + C;
  std::fill_n(means, 2 * C, 0.0);
  int64_t done = 0;
  reduce(
      call, pieces, [&](Range part, const PartSums& sums) { add_moments(pieces, part, x, origin, sums); },
      [&](Range part, const PartSums& sums) {
        for (int64_t c = 0; c < C; ++c)
          Moments{means[c], squares[c]}.join(done, pieces.count(part), sums.first[c], sums.second[c]);
        done += pieces.count(part);
      });
  for (int64_t c = 0; c < C; ++c) mean[c] = float(means[c]), variance[c] = float(squares[c] / double(done));
}

/// Element c of an operand by channel that may be left out.
float value_or(const Call& call, int input, int64_t c, float otherwise) {
  return call.has_input(input) ? call.input(input).as<float>()[c] : otherwise;
}

const float* data_or_null(const Call& call, int input) {
  return call.has_input(input) ? call.input(input).as<float>() : nullptr;
}

/// y from mean and variance, with the call's operands from number `w` on.
void write_normalized(const Call& call, const Pieces& pieces, const float* mean, const float* variance,
                      int w) {
  const auto& options = call.options<BatchNormOptions>();
  const int64_t C = pieces.channels();
  float *const scale = call.workspace<float>(C), *const shift = call.workspace<float>(C);
  for (int64_t c = 0; c < C; ++c) {
    scale[c] = value_or(call, w, c, 1) / std::sqrt(variance[c] + float(options.epsilon));
    shift[c] = value_or(call, w + 1, c, 0);
  }
  const float *const x = call.input(0).as<float>(), *const residual = data_or_null(call, w + 2);
  float* const y = call.output().as<float>();
  pieces.for_all([&](const ChannelPiece& piece, int64_t first) {
    cpu::normalize(piece, {mean, scale, shift, residual ? residual + first : nullptr, options.relu},
                   x + first, y + first);
  });
}

void run(const Call& call) {
  const Pieces pieces(call.input(0));
  float *const mean = call.output(1).as<float>(), *const variance = call.output(2).as<float>();
  find_statistics(call, pieces, mean, variance);
  write_normalized(call, pieces, mean, variance, 1);
}

void run_inference(const Call& call) {
  write_normalized(call, Pieces(call.input(0)), call.input(1).as<float>(), call.input(2).as<float>(), 3);
}

/// Σ dz into db and Σ dz·n into dw; `deviation` is σ.
void find_gradient_sums(const Call& call, const Pieces& pieces, const cpu::NormalizedGradient& of,
                        const float* deviation) {
  const int64_t C = pieces.channels();
  double* const sums = call.workspace<double>(2 * C);
  double* const products = sums + C;
  std::fill_n(sums, 2 * C, 0.0);
  reduce(
      call, pieces,
      [&](Range part, const PartSums& of_part) {
        pieces.for_each(part, [&](const ChannelPiece& piece, int64_t first) {
          std::fill_n(of_part.piece_first, C, 0.f), std::fill_n(of_part.piece_second, C, 0.f);
          cpu::add_gradient_sums(piece, of.from(first), of_part.piece_first, of_part.piece_second);
          for (int64_t c = 0; c < C; ++c)
            of_part.first[c] += of_part.piece_first[c], of_part.second[c] += of_part.piece_second[c];
        });
      },
      [&](Range, const PartSums& of_part) {
        for (int64_t c = 0; c < C; ++c) sums[c] += of_part.first[c], products[c] += of_part.second[c];
      });
  float *const dw = call.output(1).as<float>(), *const db = call.output(2).as<float>();
  for (int64_t c = 0; c < C; ++c) dw[c] = float(products[c] / deviation[c]), db[c] = float(sums[c]);
}

/// Writes dx by pieces and adds up each of them, which is still in the cache, into a sum for each channel.
template <class Write>
void write_and_sum(const Call& call, const Pieces& pieces, const float* dx, Write write, float* sum) {
  const int64_t C = pieces.channels();
  float* const zeros = call.workspace<float>(C);
  std::fill_n(zeros, C, 0.f);
  double* const sums = call.workspace<double>(C);
  std::fill_n(sums, C, 0.0);
  reduce(
      call, pieces,
      [&](Range part, const PartSums& of_part) {
        pieces.for_each(part, [&](const ChannelPiece& piece, int64_t first) {
          write(piece, first);
          std::fill_n(of_part.piece_first, C, 0.f);
          cpu::add_distances(piece, dx + first, zeros, of_part.piece_first);
          for (int64_t c = 0; c < C; ++c) of_part.first[c] += of_part.piece_first[c];
        });
      },
      [&](Range, const PartSums& of_part) {
        for (int64_t c = 0; c < C; ++c) sums[c] += of_part.first[c];
      });
  for (int64_t c = 0; c < C; ++c) sum[c] = float(sums[c]);
}

void run_gradient(const Call& call) {
  enum Operand { kDy, kX, kMean, kVariance, kW, kY, kB };
  const Pieces pieces(call.input(kX));
  const int64_t C = pieces.channels();
  float *const deviation = call.workspace<float>(C), *const scale = call.workspace<float>(C),
               *const offset = call.workspace<float>(C), *const slope = call.workspace<float>(C),
               *const shift = call.workspace<float>(C);
  const auto& options = call.options<BatchNormGradientOptions>();
  const float epsilon = float(options.epsilon);
  for (int64_t c = 0; c < C; ++c) {
    deviation[c] = std::sqrt(call.input(kVariance).as<float>()[c] + epsilon);
    scale[c] = value_or(call, kW, c, 1) / deviation[c];
    shift[c] = value_or(call, kB, c, 0);
  }
  const cpu::NormalizedGradient of{call.input(kX).as<float>(),     call.input(kDy).as<float>(),
                                   data_or_null(call, kY),         call.input(kMean).as<float>(),
                                   options.relu ? scale : nullptr, options.relu ? shift : nullptr};
  find_gradient_sums(call, pieces, of, deviation);
  const float *const dw = call.output(1).as<float>(), *const db = call.output(2).as<float>();
  for (int64_t c = 0; c < C; ++c) {
    offset[c] = db[c] / float(pieces.count());
    slope[c] = dw[c] / (deviation[c] * float(pieces.count()));
  }
  float* const dx = call.output().as<float>();
  const BatchNormGradientPlaces places(options, of.y != nullptr);
  float* const dz = places.dz ? call.output(places.dz).as<float>() : nullptr;
  auto write = [&](const ChannelPiece& piece, int64_t first) {
    cpu::write_gradient(piece, of.from(first), offset, slope, scale, dx + first, dz ? dz + first : nullptr);
  };
  if (places.sum)
    write_and_sum(call, pieces, dx, write, call.output(places.sum).as<float>());
  else
    pieces.for_all(write);
}

/// Whether all operands are f32, those of x's shape lie as x does, and those by channel side by side.
template <int x>
bool takes(const Call& call) {
  const TensorView& like = call.input(x);
  const bool channels_last = like.channels_last();
  if (like.numel() == 0 || !(like.contiguous() || channels_last)) return false;
  auto fits = [&](const TensorView& view) {
    if (!view.defined()) return true;
    const bool lies = view.shape.rank() > 1 && channels_last ? view.channels_last() : view.contiguous();
    return view.dtype == DType::f32 && lies;
  };
  return std::all_of(call.inputs.begin(), call.inputs.end(), fits) &&
         std::all_of(call.outputs.begin(), call.outputs.end(), fits);
}

}  // namespace

namespace ops {

void register_norm_cpu_batch_norm(Registry& registry) {
  auto add = [&](const char* op, void (*run)(const Call&), bool (*when)(const Call&)) {
    add_variant(registry, op,
                {.name = "simd", .device = DeviceKind::cpu, .run = run, .when = when, .preference = 20});
  };
  add("batch_norm", run, takes<0>);
  add("batch_norm_inference", run_inference, takes<0>);
  add("batch_norm_gradient", run_gradient, takes<1>);
}

}  // namespace ops
}  // namespace treadle
