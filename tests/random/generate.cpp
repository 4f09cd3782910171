#include "tests/random/generate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "treadle/core/error.h"

namespace treadle::random_programs {
namespace {

using nlohmann::json;

constexpr double kSmallestDistance = 1e-3;  ///< to a kink; values have errors of some 1e-6
constexpr double kLargestValue = 100, kLargestGradient = 1000;
constexpr int64_t kMostElements = 3000;

/// SplitMix64: the same numbers everywhere, which the distributions of <random> do not promise.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [low, high].
  int64_t between(int64_t low, int64_t high) { return low + int64_t(next() % uint64_t(high - low + 1)); }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class List>
  const auto& one_of(const List& list) {
    return *(std::begin(list) + between(0, int64_t(std::size(list)) - 1));
  }

 private:
  uint64_t state_;
};

bool is_moderate(const Tensor& x, double largest) {
  for (double value : x.to_doubles())
    if (!(std::fabs(value) <= largest)) return false;  // NaN too
  return true;
}

/// A program while it grows, with its values in f64.
class Draft {
 public:
  Draft(uint64_t seed, uint64_t attempt) : random_(seed * 1000 + attempt) { program_.seed = seed; }

  Program finish();

 private:
  using Proposal = bool (Draft::*)();

  // What can be taken as an operand.
  int count() const { return int(values_.size()); }
  const Shape& shape(int value) const { return values_[size_t(value)].shape(); }
  int rank(int value) const { return shape(value).rank(); }
  bool is_floating(int value) const { return treadle::is_floating(values_[size_t(value)].dtype()); }
  /// A floating value that `suits`; the latest ones and those that nothing uses yet are taken most often.
  std::optional<int> pick(const std::function<bool(int)>& suits);
  std::optional<int> any() {
    return pick([](int) { return true; });
  }
  std::optional<int> image() {
    return pick([this](int v) { return rank(v) == 4; });
  }

  std::optional<int> stepped_image();

  int leaf(Leaf::Kind kind, const Shape& shape, int64_t classes = 0);
  int parameter(const Shape& shape) { return leaf(Leaf::Kind::parameter, shape); }
  /// A leaf of this shape, or a value that happens to have it.
  int operand(const Shape& shape);
  Shape random_shape(int rank);
  int64_t random_extent();

  /// Adds a step; false, and nothing is changed, where its result is not as it should be.
  bool add(const std::string& op, std::vector<int> inputs, json options = json::object());

  bool unary();
  bool with_number();
  bool binary();
  bool choose();
  bool view();
  bool cut();
  bool spread();
  bool lay_out();
  bool join();
  bool select();
  bool reduce();
  bool normalize();
  bool multiply();
  bool connect();
  bool convolve();
  bool pool();
  bool convolve_and_pool();
  bool classify();
  bool compare();

  void add_loss();
  /// Numbers the values as Program has them: leaves first.
  void renumber();

  Random random_;
  Program program_;
  std::vector<Tensor> values_;
  std::vector<int> uses_;
  std::vector<int> origins_;  ///< of each value: its step's number, or −1 − its leaf's
};

std::optional<int> Draft::pick(const std::function<bool(int)>& suits) {
  std::vector<int> candidates;
  for (int v = 0; v < count(); ++v) {
    if (!is_floating(v) || !suits(v)) continue;
    const int weight = (uses_[size_t(v)] == 0 ? 4 : 1) * (v + 6 > count() ? 3 : 1);
    candidates.insert(candidates.end(), size_t(weight), v);
  }
  if (candidates.empty()) return {};
  return random_.one_of(candidates);
}

int64_t Draft::random_extent() {
  if (random_.chance(2)) return 0;
  if (random_.chance(25)) return 1;
  return random_.between(2, random_.chance(20) ? 19 : 6);
}

Shape Draft::random_shape(int rank) {
  Shape shape;
  do {
    shape = {};
    for (int axis = 0; axis < rank; ++axis) shape.push_back(random_extent());
  } while (shape.numel() > kMostElements);
  return shape;
}

int Draft::leaf(Leaf::Kind kind, const Shape& shape, int64_t classes) {
  const uint32_t number = uint32_t(program_.leaves.size());
  program_.leaves.push_back({kind, shape, random_.chance(80) ? 1.0 : 0.5, classes,
                             uint32_t(program_.seed * 64 + number), shape.rank() >= 2 && random_.chance(30)});
  values_.push_back(make_leaf(program_.leaves.back(), DType::f64, kCpu));
  if (kind == Leaf::Kind::parameter) values_.back().set_requires_grad();
  uses_.push_back(0), origins_.push_back(-1 - int(number));
  return count() - 1;
}

int Draft::operand(const Shape& wanted) {
  if (random_.chance(50))
    if (auto found = pick([&](int v) { return shape(v) == wanted; })) return *found;
  return leaf(random_.chance(60) ? Leaf::Kind::parameter : Leaf::Kind::input, wanted);
}

bool Draft::add(const std::string& op, std::vector<int> inputs, json options) {
  const Step step{op, inputs, std::move(options)};
  const auto operands = inputs_of(step, values_);
  Tensor result;
  try {
    result = run_step(step, operands);
    if (distance_to_kink(step, operands) < kSmallestDistance) return false;
  } catch (const Error&) {
    return false;
  }
  if (result.numel() > kMostElements || !is_moderate(result, kLargestValue)) return false;
  for (int input : inputs) ++uses_[size_t(input)];
  origins_.push_back(int(program_.steps.size()));
  program_.steps.push_back(step), values_.push_back(result), uses_.push_back(0);
  return true;
}

bool Draft::unary() {
  constexpr const char* kOps[] = {"neg",  "abs",  "exp",  "log",     "sqrt", "relu",
                                  "relu", "tanh", "gelu", "sigmoid", "silu", "contiguous"};
  const auto x = any();
  return x && add(random_.one_of(kOps), {*x});
}

bool Draft::with_number() {
  const auto x = any();
  if (!x) return false;
  const double number = double(random_.between(-12, 12)) / 8;
  switch (random_.between(0, 3)) {
    case 0:
      return add("add_number", {*x}, {{"number", number}});
    case 1:
      return add("mul_number", {*x}, {{"number", number}});
    case 2:
      return add("leaky_relu", {*x}, {{"slope", 0.125}});
    default:
      return add("clamp", {*x}, {{"low", -0.5}, {"high", std::fabs(number)}});
  }
}

/// Some operands broadcast: leading axes are left out, others have extents of 1.
bool Draft::binary() {
  constexpr const char* kOps[] = {"add", "sub", "mul", "div", "add", "mul", "maximum", "minimum"};
  const auto x = any();
  if (!x) return false;
  Shape other = shape(*x);
  if (random_.chance(40))
    for (int64_t& extent : other)
      if (random_.chance(40)) extent = 1;
  if (random_.chance(20) && other.rank() > 0) {
    Shape shorter;
    for (int axis = int(random_.between(1, other.rank())); axis < other.rank(); ++axis)
      shorter.push_back(other[axis]);
    other = shorter;
  }
  const int y = random_.chance(10) ? *x : operand(other);
  return random_.chance(50) ? add(random_.one_of(kOps), {*x, y}) : add(random_.one_of(kOps), {y, *x});
}

bool Draft::choose() {
  const auto x = any();
  if (!x) return false;
  const int y = operand(shape(*x)), a = operand(shape(*x)), b = operand(shape(*x));
  return add("where_greater", {*x, y, a, b});
}

bool Draft::view() {
  const auto x = any();
  if (!x) return false;
  const int axes = rank(*x);
  switch (random_.between(0, 3)) {
    case 0: {
      std::vector<int64_t> order;
      for (int axis = 0; axis < axes; ++axis)
        order.insert(order.begin() + random_.between(0, int64_t(order.size())), axis);
      return add("permute", {*x}, {{"axes", order}});
    }
    case 1: {  // merges two axes, or all
      std::vector<int64_t> merged(shape(*x).begin(), shape(*x).end());
      if (axes < 2 || random_.chance(20)) return add("reshape", {*x}, {{"shape", {shape(*x).numel()}}});
      const auto at = random_.between(0, axes - 2);
      merged[size_t(at)] *= merged[size_t(at) + 1];
      merged.erase(merged.begin() + at + 1);
      return add("reshape", {*x}, {{"shape", merged}});
    }
    case 2:
      return axes < 5 && add("unsqueeze", {*x}, {{"axis", random_.between(0, axes)}});
    default: {
      for (int axis = 0; axis < axes; ++axis)
        if (shape(*x)[axis] == 1) return add("squeeze", {*x}, {{"axis", axis}});
      // Splits an axis of an even extent.
      std::vector<int64_t> split(shape(*x).begin(), shape(*x).end());
      for (int axis = 0; axis < axes && axes < 5; ++axis)
        if (split[size_t(axis)] % 2 == 0 && split[size_t(axis)] > 0) {
          split[size_t(axis)] /= 2;
          split.insert(split.begin() + axis, 2);
          return add("reshape", {*x}, {{"shape", split}});
        }
      return false;
    }
  }
}

bool Draft::cut() {
  const auto x = pick([this](int v) { return rank(v) > 0; });
  if (!x) return false;
  const int axis = int(random_.between(0, rank(*x) - 1));
  const int64_t extent = shape(*x)[axis], begin = random_.between(0, extent > 1 ? extent - 1 : 1),
                end = random_.chance(50) ? extent : begin + random_.between(0, 4),
                step = random_.between(1, 3);
  return add("slice", {*x}, {{"axis", axis}, {"begin", begin}, {"end", end}, {"step", step}});
}

bool Draft::spread() {
  const auto x = pick([this](int v) {
    return rank(v) < 4 || std::find(shape(v).begin(), shape(v).end(), 1) != shape(v).end();
  });
  if (!x) return false;
  std::vector<int64_t> target(shape(*x).begin(), shape(*x).end());
  for (int64_t& extent : target)
    if (extent == 1 && random_.chance(70)) extent = random_.between(1, 5);
  if (target.size() < 4 && random_.chance(50)) target.insert(target.begin(), random_.between(1, 3));
  return add("expand", {*x}, {{"shape", target}});
}

bool Draft::lay_out() {
  if (const auto x = image(); x && random_.chance(70)) return add("channels_last", {*x});
  const auto x = any();
  return x && add(random_.chance(50) ? "contiguous" : "clone", {*x});
}

bool Draft::join() {
  const auto x = pick([this](int v) { return rank(v) > 0; });
  if (!x) return false;
  const int axis = int(random_.between(0, rank(*x) - 1));
  Shape other = shape(*x);
  other[axis] = random_.between(1, 4);
  const int y = operand(other);
  return random_.chance(50) ? add("concat", {*x, y}, {{"axis", axis}})
                            : add("concat", {y, *x, *x}, {{"axis", axis}});
}

bool Draft::select() {
  const auto x = pick([this](int v) { return rank(v) > 0; });
  if (!x) return false;
  const int axis = int(random_.between(0, rank(*x) - 1));
  if (shape(*x)[axis] == 0) return false;
  const int indices = leaf(Leaf::Kind::indices, {random_.between(1, 7)}, shape(*x)[axis]);
  return add("index_select", {*x, indices}, {{"axis", axis}});
}

bool Draft::reduce() {
  constexpr const char* kOps[] = {"sum", "mean", "max", "min", "sum", "mean"};
  const auto x = pick([this](int v) { return rank(v) > 0; });
  if (!x) return false;
  std::vector<int64_t> axes;
  for (int axis = 0; axis < rank(*x); ++axis)
    if (random_.chance(45)) axes.push_back(axis);
  if (random_.chance(10)) return add("argmax", {*x}, {{"axis", random_.between(0, rank(*x) - 1)}});
  return add(random_.one_of(kOps), {*x}, {{"axes", axes}, {"keep", random_.chance(40)}});
}

bool Draft::normalize() {
  const auto x = pick([this](int v) { return rank(v) > 0; });
  return x && add(random_.chance(50) ? "softmax" : "log_softmax", {*x},
                  {{"axis", random_.between(-1, rank(*x) - 1)}});
}

bool Draft::multiply() {
  const auto x = pick([this](int v) { return rank(v) >= 2; });
  if (!x) return false;
  Shape other = shape(*x);
  const bool left = random_.chance(50);
  other[left ? -2 : -1] = shape(*x)[left ? -1 : -2], other[left ? -1 : -2] = random_.between(1, 9);
  if (random_.chance(30) && other.rank() > 2) {
    Shape matrix{other[-2], other[-1]};
    other = matrix;
  }
  const int y = operand(other);
  return left ? add("matmul", {*x, y}) : add("matmul", {y, *x});
}

bool Draft::connect() {
  const auto x = pick([this](int v) { return rank(v) >= 1; });
  if (!x) return false;
  const int64_t in = shape(*x)[-1], out = random_.between(1, random_.chance(30) ? 40 : 9);
  std::vector<int> inputs{*x, parameter({out, in})};
  if (random_.chance(70)) inputs.push_back(parameter({out}));
  return add("linear", inputs) && (random_.chance(50) || add("relu", {count() - 1}) || true);
}

/// Along rows or columns: rows may then lie between one another's elements.
std::optional<int> Draft::stepped_image() {
  const auto x = image();
  if (!x || !random_.chance(25)) return x;
  const int axis = int(random_.between(2, 3));
  const bool done = add("slice", {*x}, {{"axis", axis}, {"begin", 0}, {"end", shape(*x)[axis]}, {"step", 2}});
  return done ? count() - 1 : x;
}

bool Draft::convolve() {
  const auto x = stepped_image();
  if (!x) return false;
  const int64_t channels = shape(*x)[1];
  if (channels == 0) return false;  // PyTorch's result then has no filters either
  const int64_t groups = random_.chance(15) ? channels : 1;
  const int64_t filters = groups * random_.between(1, groups > 1 ? 2 : random_.chance(30) ? 18 : 5);
  const int64_t R = random_.between(1, 3), S = random_.chance(60) ? R : random_.between(1, 3);
  std::vector<int> inputs{*x, parameter({filters, channels / groups, R, S})};
  if (random_.chance(60)) inputs.push_back(parameter({filters}));
  auto pair = [&](int64_t low, int64_t high, int usual) {
    return random_.chance(70) ? json{usual, usual}
                              : json{random_.between(low, high), random_.between(low, high)};
  };
  return add("conv2d", inputs,
             {{"stride", pair(1, 2, 1)},
              {"padding", pair(0, 2, random_.chance(50) ? 1 : 0)},
              {"dilation", pair(1, 2, 1)},
              {"groups", groups}});
}

bool Draft::pool() {
  const auto x = image();
  if (!x) return false;
  const int64_t R = random_.chance(60) ? 2 : random_.between(1, 3),
                S = random_.chance(70) ? R : random_.between(1, 3);
  const json kernel{R, S},
      stride = random_.chance(60) ? kernel : json{random_.between(1, 3), random_.between(1, 3)};
  const json padding =
      random_.chance(70) ? json{0, 0} : json{random_.between(0, R / 2), random_.between(0, S / 2)};
  if (random_.chance(30))
    return add("avg_pool2d", {*x},
               {{"kernel", kernel},
                {"stride", stride},
                {"padding", padding},
                {"count_include_pad", random_.chance(50)}});
  const json dilation = random_.chance(80) ? json{1, 1} : json{random_.between(1, 2), random_.between(1, 2)};
  return add("max_pool2d", {*x},
             {{"kernel", kernel}, {"stride", stride}, {"padding", padding}, {"dilation", dilation}});
}

/// Convolution, pooling and ReLU in an order that is fused, or one that is not.
bool Draft::convolve_and_pool() {
  if (!convolve()) return false;
  auto relu = [this] { return add("relu", {count() - 1}); };
  auto largest = [this] {
    return add("max_pool2d", {count() - 1},
               {{"kernel", {2, 2}}, {"stride", {2, 2}}, {"padding", {0, 0}}, {"dilation", {1, 1}}});
  };
  if (random_.chance(60))
    largest() && relu();
  else
    relu() && largest();
  if (random_.chance(40)) {
    const Shape& y = shape(count() - 1);
    add("reshape", {count() - 1}, {{"shape", {y[0], y[1] * y[2] * y[3]}}});
  }
  return true;
}

bool Draft::classify() {
  const auto x = pick([this](int v) { return rank(v) == 2 && shape(v)[0] > 0 && shape(v)[1] > 0; });
  if (!x) return false;
  constexpr const char* kReductions[] = {"mean", "sum", "none"};
  const int labels = leaf(Leaf::Kind::indices, {shape(*x)[0]}, shape(*x)[1]);
  return add("cross_entropy", {*x, labels}, {{"reduction", random_.one_of(kReductions)}});
}

bool Draft::compare() {
  const auto x = any();
  if (!x || shape(*x).numel() == 0) return false;
  constexpr const char* kReductions[] = {"mean", "sum", "none"};
  const int target = operand(shape(*x));
  return add("mse", {*x, target}, {{"reduction", random_.one_of(kReductions)}});
}

/// The sum of what nothing uses, each element with a weight of its own.
void Draft::add_loss() {
  std::vector<int> ends;
  for (int v = 0; v < count(); ++v)
    if (uses_[size_t(v)] == 0 && is_floating(v) && origins_[size_t(v)] >= 0) ends.push_back(v);
  int total = -1;
  for (int end : ends) {
    if (random_.chance(60)) program_.results.push_back(end);
    int term = end;
    if (rank(end) > 0) {
      const int weights = leaf(Leaf::Kind::input, shape(end));
      if (!add("mul", {end, weights})) continue;
      if (!add(shape(end).numel() > 0 && random_.chance(50) ? "mean" : "sum", {count() - 1},
               {{"axes", json::array()}, {"keep", false}}))
        continue;
      term = count() - 1;
    }
    if (total < 0)
      total = term;
    else if (add("add", {total, term}))
      total = count() - 1;
  }
  if (total != count() - 1 || total < 0) add("mul_number", {std::max(total, 0)}, {{"number", 1.0}});
}

Program Draft::finish() {
  struct Choice {
    Proposal proposal;
    int weight;
  };
  const Choice choices[] = {{&Draft::unary, 8},
                            {&Draft::with_number, 3},
                            {&Draft::binary, 10},
                            {&Draft::choose, 2},
                            {&Draft::view, 8},
                            {&Draft::cut, 8},
                            {&Draft::spread, 4},
                            {&Draft::lay_out, 5},
                            {&Draft::join, 4},
                            {&Draft::select, 3},
                            {&Draft::reduce, 6},
                            {&Draft::normalize, 3},
                            {&Draft::multiply, 6},
                            {&Draft::connect, 6},
                            {&Draft::convolve, 7},
                            {&Draft::pool, 6},
                            {&Draft::convolve_and_pool, 7},
                            {&Draft::classify, 3},
                            {&Draft::compare, 2}};
  std::vector<Proposal> proposals;
  for (const Choice& choice : choices)
    proposals.insert(proposals.end(), size_t(choice.weight), choice.proposal);
  const int64_t leaves = random_.between(1, 2);
  for (int64_t i = 0; i < leaves; ++i)
    leaf(random_.chance(50) ? Leaf::Kind::parameter : Leaf::Kind::input,
         random_shape(random_.chance(50) ? 4 : int(random_.between(0, 3))));
  const int64_t steps = random_.between(3, 11);
  for (int64_t i = 0; i < 4 * steps && int64_t(program_.steps.size()) < steps; ++i)
    (this->*random_.one_of(proposals))();
  add_loss();
  renumber();
  return std::move(program_);
}

void Draft::renumber() {
  const int leaves = int(program_.leaves.size());
  auto place = [&](int value) {
    const int origin = origins_[size_t(value)];
    return origin < 0 ? -1 - origin : leaves + origin;
  };
  for (Step& step : program_.steps)
    for (int& input : step.inputs) input = place(input);
  for (int& result : program_.results) result = place(result);
  program_.results.push_back(program_.loss());
}

}  // namespace

Program generate(uint64_t seed) {
  for (uint64_t attempt = 0;; ++attempt) {
    Program program = Draft(seed, attempt).finish();
    if (!program.steps.empty() && is_well_conditioned(program)) return program;
  }
}

bool is_well_conditioned(const Program& program) {
  auto values = make_leaves(program, DType::f64, kCpu);
  for (const Step& step : program.steps) {
    const auto inputs = inputs_of(step, values);
    if (distance_to_kink(step, inputs) < kSmallestDistance) return false;
    values.push_back(run_step(step, inputs));
    if (!is_moderate(values.back(), kLargestValue)) return false;
  }
  if (values.back().rank() != 0) return false;
  if (values.back().requires_grad()) values.back().backward();
  for (size_t i = 0; i < program.leaves.size(); ++i)
    if (program.leaves[i].is_parameter() && values[i].grad().defined() &&
        !is_moderate(values[i].grad(), kLargestGradient))
      return false;
  return true;
}

}  // namespace treadle::random_programs
