/// Distributions: each struct turns a block of four random numbers into four values, and is its op's options.
#pragma once

#include <cstdint>

#include "treadle/kernels/math.h"
#include "treadle/kernels/philox.h"

namespace treadle {

/// Where a fill reads the sequence; shared by the structs below.
struct RandomPosition {
  int64_t seed = 0;    ///< the generator's seed, as 64 bits
  int64_t offset = 0;  ///< the block that the first four elements take

  /// Takes seed and offset from four numbers, `stride` apart: the lower and the upper 32 bits of each.
  TREADLE_DEVICE void read(const double* numbers, int64_t stride) {
    seed = int64_t(uint64_t(numbers[0]) | uint64_t(numbers[stride]) << 32);
    offset = int64_t(uint64_t(numbers[2 * stride]) | uint64_t(numbers[3 * stride]) << 32);
  }

  TREADLE_DEVICE PhiloxBlock block(int64_t index) const {
    return philox_block(uint64_t(seed), uint64_t(offset) + uint64_t(index));
  }
};

/// The upper 24 bits, as many as a float holds.
TREADLE_DEVICE inline uint32_t upper24(uint32_t bits) { return bits >> 8; }

/// a·b rounded, never fused with a following addition, so that all devices give the same bits.
TREADLE_DEVICE inline double rounded_product(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

/// low + u·(high - low), u = k·2^-24 for the upper 24 bits k; the same bits on every device.
struct Uniform : RandomPosition {
  static constexpr const char *kName = "uniform",
                              *kSummary = "x[i] = low + u·(high - low), u uniform in [0, 1)";
  double low = 0, high = 1;

  template <class Field>
  static void describe(Field& field) {
    field("low", &Uniform::low, "smallest value");
    field("high", &Uniform::high, "upper bound, reached only by rounding");
    field("seed", &Uniform::seed, "seed of the sequence");
    field("offset", &Uniform::offset, "position in the sequence");
  }
  template <class C>
  TREADLE_DEVICE void operator()(const PhiloxBlock& block, C (&values)[4]) const {
    for (int lane = 0; lane < 4; ++lane)
      values[lane] = C(low + rounded_product(upper24(block.lanes[lane]) * 0x1p-24, high - low));
  }
};

/// Normal values by Box and Muller, two from each pair of numbers; at most 5.8 deviations from the mean.
struct Normal : RandomPosition {
  static constexpr const char *kName = "normal", *kSummary = "x[i] = mean + deviation·z, z standard normal";
  double mean = 0, deviation = 1;

  template <class Field>
  static void describe(Field& field) {
    field("mean", &Normal::mean, "mean");
    field("deviation", &Normal::deviation, "standard deviation");
    field("seed", &Normal::seed, "seed of the sequence");
    field("offset", &Normal::offset, "position in the sequence");
  }
  template <class C>
  TREADLE_DEVICE void operator()(const PhiloxBlock& block, C (&values)[4]) const {
    for (int lane = 0; lane < 4; lane += 2) {
      C radius = math::sqrt(C(-2) * math::log(C(upper24(block.lanes[lane]) + 1) * C(0x1p-24)));
      C cosine, sine;
      cosine_and_sine(upper24(block.lanes[lane + 1]), cosine, sine);
      values[lane] = C(mean) + C(deviation) * (radius * cosine);
      values[lane + 1] = C(mean) + C(deviation) * (radius * sine);
    }
  }

 private:
  /// Of the angle turn·2^-24 of a circle. The nearest quarter is taken off in integers, so that values close
  /// to zero keep all their bits.
  template <class C>
  static TREADLE_DEVICE void cosine_and_sine(uint32_t turn, C& cosine, C& sine) {
    uint32_t quarter = (turn + (1u << 21)) >> 22;
    C angle = C(int32_t(turn - (quarter << 22))) * C(6.28318530717958647692 * 0x1p-24);
    C c = math::cos(angle), s = math::sin(angle);
    bool odd = quarter & 1u;
    cosine = odd ? s : c;
    sine = odd ? c : s;
    if (quarter == 1 || quarter == 2) cosine = -cosine;
    if (quarter == 2 || quarter == 3) sine = -sine;
  }
};

/// `value` with the given probability, else 0; the same bits on every device.
struct Bernoulli : RandomPosition {
  static constexpr const char *kName = "bernoulli",
                              *kSummary = "x[i] = value with the given probability, else 0";
  double probability = 0.5, value = 1;

  template <class Field>
  static void describe(Field& field) {
    field("probability", &Bernoulli::probability, "chance of the value");
    field("value", &Bernoulli::value, "what is there then");
    field("seed", &Bernoulli::seed, "seed of the sequence");
    field("offset", &Bernoulli::offset, "position in the sequence");
  }
  template <class C>
  TREADLE_DEVICE void operator()(const PhiloxBlock& block, C (&values)[4]) const {
    // u < probability in integers: k < ⌈probability·2^24⌉.
    const double scaled = probability * 0x1p24;
    const uint32_t whole = uint32_t(scaled), threshold = whole + (whole < scaled);
    for (int lane = 0; lane < 4; ++lane)
      values[lane] = upper24(block.lanes[lane]) < threshold ? C(value) : C(0);
  }
};

}  // namespace treadle
