#include "treadle/compile/pieces.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "treadle/compile/arena.h"
#include "treadle/compile/tuning.h"
#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/graph/op.h"
#include "treadle/graph/registry.h"

namespace treadle {
namespace {

using Kind = GraphBuffer::Kind;

/// Of a piece, for each thread: so much stays in its L2 cache or near it. mobilenet_cifar, N=128, on two
/// threads: 6,000 to 8,200 images a second whole, 11,400 to 11,700 with 1 to 8 MB; fashion_cnn, N=256:
/// 55,000, and 62,000 with 4 MB.
constexpr size_t kBytesOfThread = size_t(2) << 20;
/// Kernels have a tail: fewer rows are slower than the memory that they save.
constexpr int64_t kFewestRows = 4;
/// Each piece reads the weights again: all together they may read a part in so many of what the batch's rows
/// are. resnet18_cifar, N=128, loses two fifths by pieces of 4 MB, for its weights are 44.
constexpr size_t kShareOfWeights = 4;
/// A sum over rows is written for each piece, read there once more, and written.
constexpr size_t kTrafficOfSum = 3;

/// What the caches save, in bytes a second for each thread: memory gives two threads of a Zen 5 server 50 to
/// 60 GB/s.
constexpr double kBytesASecond = 25e9;
/// What a step takes more for each piece, in seconds: its start; where it reads what the program changes,
/// packing that again, which it could keep else; where it sums, bringing the threads' parts together. By
/// mnist_resnet's convolutions (Zen 5, two threads): 6 to 12 µs an input gradient, 15 to 27 a weight
/// gradient.
constexpr double kStart = 2e-6, kPacking = 10e-6, kSumming = 20e-6;
/// The estimate is rough: a loop must save so many times what it costs.
constexpr double kMargin = 2;

/// What a buffer is for the steps of a loop: rows that they go through, the same for all of them, or a sum.
enum class Role : uint8_t { unused, cut, whole, summed };

/// Steps that may become a loop.
struct Candidate {
  size_t first = 0;
  std::vector<size_t> steps;    ///< by their places
  std::vector<size_t> hoisted;  ///< between them; they can run before the first
  std::vector<Role> roles;      ///< by buffer
  std::vector<char> made;       ///< by buffer: one of the steps makes it

  size_t end() const { return steps.back() + 1; }
};

class Cutter {
 public:
  Cutter(StepGraph& graph, int64_t rows) : graph_(graph), rows_(rows), excluded_(graph.size(), false) {
    find_batch();
  }

  std::vector<PieceLoop> run() {
    if (rows_ < 2 * kFewestRows || !is_on_cpu()) return {};
    for (size_t at = 0; at < graph_.size();) {
      const Candidate candidate = grow(at);
      if (candidate.steps.empty()) {
        ++at;
        continue;
      }
      const size_t saved = saved_bytes(candidate);
      const int64_t count = saved > 0 ? pieces(candidate) : 1;
      const std::vector<size_t> others =
          count > 1 ? steps_to_leave_out(candidate, count) : std::vector<size_t>();
      for (size_t step : others) excluded_[step] = true;
      if (!others.empty()) continue;
      at = count > 1 && saves_time(candidate, count, saved) ? cut(candidate, count) : candidate.end();
    }
    return std::move(loops_);
  }

 private:
  static bool is_tested() { return detail::piece_bytes.load(std::memory_order_relaxed) != 0; }

  Role role_of(const Candidate& candidate, int value) const {
    return candidate.roles[size_t(graph_.buffer_of(value))];
  }

  // ---- which steps can be cut

  bool is_on_cpu() const {
    return std::ranges::all_of(graph_.buffers(),
                               [](const GraphBuffer& buffer) { return buffer.device == kCpu; });
  }

  /// Buffers that follow from arguments.
  void find_batch() {
    in_batch_.assign(graph_.buffers().size(), false);
    for (size_t i = 0; i < in_batch_.size(); ++i) in_batch_[i] = graph_.buffers()[i].kind == Kind::input;
    for (size_t i = 0; i < graph_.size(); ++i) {
      if (!std::ranges::any_of(graph_[i].inputs, [&](int value) { return is_in_batch(value); })) continue;
      for (int value : graph_[i].outputs)
        if (value != kNoValue) in_batch_[size_t(graph_.buffer_of(value))] = true;
    }
  }

  bool is_in_batch(int value) const {
    return value != kNoValue && in_batch_[size_t(graph_.buffer_of(value))];
  }

  /// Of a tensor that is the same for all rows, a view.
  bool is_same_for_all_rows(int value) const {
    const TensorSpec& spec = graph_.spec(value);
    return !is_in_batch(value) && spec.shape.rank() > 0 && spec.strides[0] == 0;
  }

  /// Whether the value has rows of the batch, and what it has of each lies within that row of its buffer.
  bool lies_by_rows(int value) const {
    const TensorSpec& spec = graph_.spec(value);
    const GraphBuffer& buffer = graph_.memory_of(value);
    const size_t size = size_of(spec.dtype);
    const bool may_move =
        buffer.kind == Kind::input || buffer.kind == Kind::result || buffer.kind == Kind::output;
    if (!is_in_batch(value) || !may_move || spec.shape.rank() == 0 || spec.shape.numel() == 0 ||
        spec.shape[0] % rows_ != 0 || buffer.bytes % size_t(rows_) != 0)
      return false;
    const size_t row = buffer.bytes / size_t(rows_);
    Shape one = spec.shape;
    one[0] /= rows_;
    return size_t(spec.strides[0] * one[0]) * size == row &&
           size_t(graph_.offset_of(value) + reach(one, spec.strides)) * size <= row;
  }

  std::vector<TensorSpec> specs_of(const Candidate& candidate, const std::vector<int>& values,
                                   int64_t pieces) const {
    std::vector<TensorSpec> specs;
    for (int value : values)
      specs.push_back(value == kNoValue ? TensorSpec{{}, {}, DType::f32, false}
                                        : cut_spec(candidate, value, pieces));
    return specs;
  }

  /// The roles that a step would give its buffers; false where they do not go together.
  class Wanted {
   public:
    Wanted(const StepGraph& graph, const Candidate& candidate) : graph_(graph), candidate_(candidate) {}

    bool add(int value, Role role) {
      const int buffer = graph_.buffer_of(value);
      const Role before = candidate_.roles[size_t(buffer)];
      const auto [known, is_new] = roles_.emplace(buffer, role);
      return known->second == role && (before == Role::unused || before == role);
    }
    bool cuts() const {
      return std::ranges::any_of(roles_, [](const auto& one) { return one.second == Role::cut; });
    }
    void apply(Candidate& candidate) const {
      for (const auto& [buffer, role] : roles_) candidate.roles[size_t(buffer)] = role;
    }

   private:
    const StepGraph& graph_;
    const Candidate& candidate_;
    std::map<int, Role> roles_;
  };

  bool is_sum(const Step& step, size_t output) const {
    return std::ranges::find(step.op->sums, int(output)) != step.op->sums.end();
  }

  /// A sum that has its memory for itself: there is one for each piece meanwhile.
  bool may_be_summed(int value, size_t at) const {
    const TensorSpec& spec = graph_.spec(value);
    const Kind kind = graph_.memory_of(value).kind;
    return (kind == Kind::result || kind == Kind::output) && is_row_major(spec) &&
           (spec.dtype == DType::f32 || spec.dtype == DType::f64) && spec.shape.rank() < kMaxRank &&
           graph_.offset_of(value) == 0 && spec.shape.numel() > 0 && graph_.maker_of(value, at) < 0;
  }

  /// Whether the step goes with the candidate's others; then it becomes one of them.
  bool admit(Candidate& candidate, size_t at) const {
    const Step& step = graph_[at];
    if (excluded_[at] || !step.op->rows || !step.op->mutates.empty()) return false;
    const std::vector<int> by_row = step.op->rows(specs_of(candidate, step.inputs, 1), step.attributes);
    Wanted wanted(graph_, candidate);
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const int value = step.inputs[i];
      if (value == kNoValue) continue;
      const bool has_rows = std::ranges::find(by_row, int(i)) != by_row.end();
      if (has_rows && !lies_by_rows(value) && !is_same_for_all_rows(value)) return false;
      const bool is_cut = has_rows && !is_same_for_all_rows(value);
      if (!wanted.add(value, is_cut ? Role::cut : Role::whole)) return false;
    }
    if (!wanted.cuts()) return false;
    for (size_t k = 0; k < step.outputs.size(); ++k) {
      const int value = step.outputs[k];
      if (value == kNoValue) continue;
      if (is_sum(step, k) ? !may_be_summed(value, at) : !lies_by_rows(value)) return false;
      if (!wanted.add(value, is_sum(step, k) ? Role::summed : Role::cut)) return false;
    }
    wanted.apply(candidate);
    for (int value : step.outputs)
      if (value != kNoValue) candidate.made[size_t(graph_.buffer_of(value))] = true;
    candidate.steps.push_back(at);
    return true;
  }

  /// Whether the step can run before the candidate's first.
  bool can_be_hoisted(const Candidate& candidate, size_t at) const {
    const Step& step = graph_[at];
    const auto is_free = [&](int value) {
      return value == kNoValue || !candidate.made[size_t(graph_.buffer_of(value))];
    };
    const auto is_unused = [&](int value) {
      return value == kNoValue || role_of(candidate, value) == Role::unused;
    };
    return step.op->mutates.empty() && std::ranges::all_of(step.inputs, is_free) &&
           std::ranges::all_of(step.outputs, is_unused);
  }

  /// As many steps from there on as go together.
  Candidate grow(size_t first) const {
    const size_t buffers = graph_.buffers().size();
    Candidate candidate{first, {}, {}, std::vector<Role>(buffers), std::vector<char>(buffers)};
    std::vector<size_t> between;
    for (size_t at = first; at < graph_.size(); ++at) {
      if (admit(candidate, at)) {
        candidate.hoisted.insert(candidate.hoisted.end(), between.begin(), between.end());
        between.clear();
      } else if (!candidate.steps.empty() && can_be_hoisted(candidate, at)) {
        between.push_back(at);
      } else {
        break;
      }
    }
    return candidate;
  }

  // ---- whether it pays

  std::set<int> buffers_of(const Step& step) const {
    std::set<int> buffers;
    for (const auto* values : {&step.inputs, &step.outputs})
      for (int value : *values)
        if (value != kNoValue) buffers.insert(graph_.buffer_of(value));
    return buffers;
  }

  /// Of rows that several steps read or write, what stays in the caches: all but the first reading of what
  /// comes from before the loop, and the writing of what is read behind it.
  size_t saved_bytes(const Candidate& candidate) const {
    const std::vector<char> inner = inner_buffers(candidate);
    std::vector<size_t> steps(candidate.roles.size());
    for (size_t at : candidate.steps)
      for (int buffer : buffers_of(graph_[at])) ++steps[size_t(buffer)];
    size_t bytes = 0;
    for (size_t i = 0; i < steps.size(); ++i)
      if (candidate.roles[i] == Role::cut && steps[i] > 1)
        bytes += graph_.buffers()[i].bytes * (steps[i] - !inner[i]);
    return bytes;
  }

  /// Whether a step of the program writes the value, or makes it.
  bool changes(int value) const { return graph_.last_write(value, graph_.size()) >= 0; }

  bool saves_time(const Candidate& candidate, int64_t pieces, size_t saved) const {
    if (is_tested()) return true;
    double seconds = 0;
    for (size_t at : candidate.steps) {
      const Step& step = graph_[at];
      const bool packs = std::ranges::any_of(step.inputs, [&](int value) {
        return value != kNoValue && role_of(candidate, value) == Role::whole && changes(value);
      });
      seconds += kStart + packs * kPacking + !step.op->sums.empty() * kSumming;
    }
    return double(saved) / (kBytesASecond * num_threads()) >= kMargin * seconds * double(pieces);
  }

  /// What a step reads and writes of the batch's rows, and besides for each piece, in bytes.
  struct Traffic {
    size_t rows = 0, besides = 0;
    bool pays(int64_t pieces) const { return besides * size_t(pieces) <= rows / kShareOfWeights; }
  };
  Traffic traffic(const Candidate& candidate, const Step& step) const {
    Traffic bytes;
    for (int buffer : buffers_of(step)) {
      const Role role = candidate.roles[size_t(buffer)];
      const size_t all = graph_.buffers()[size_t(buffer)].bytes;
      if (role == Role::cut) bytes.rows += all;
      if (role == Role::whole) bytes.besides += all;
      if (role == Role::summed) bytes.besides += kTrafficOfSum * all;
    }
    return bytes;
  }

  /// Buffers that nobody but the candidate's steps uses: they need the rows of one piece only.
  std::vector<char> inner_buffers(const Candidate& candidate) const {
    std::vector<char> inner(candidate.roles.size());
    for (size_t i = 0; i < inner.size(); ++i)
      inner[i] = candidate.roles[i] == Role::cut && graph_.buffers()[i].kind == Kind::result;
    for (size_t at = 0; at < graph_.size(); ++at)
      if (std::ranges::find(candidate.steps, at) == candidate.steps.end())
        for (int buffer : buffers_of(graph_[at])) inner[size_t(buffer)] = false;
    return inner;
  }

  bool are_aligned(const Candidate& candidate, int64_t pieces) const {
    for (size_t i = 0; i < candidate.roles.size(); ++i)
      if (candidate.roles[i] == Role::cut &&
          graph_.buffers()[i].bytes / size_t(pieces) % kVariantAlignment != 0)
        return false;
    return true;
  }

  /// As many rows in each as the caches hold.
  int64_t pieces(const Candidate& candidate) const {
    const size_t for_tests = detail::piece_bytes.load(std::memory_order_relaxed);
    const size_t room = for_tests ? for_tests : kBytesOfThread * size_t(num_threads());
    const int64_t fewest = for_tests ? kFewestRows : std::max<int64_t>(kFewestRows, num_threads());
    size_t most = 0;
    for (size_t at : candidate.steps) most = std::max(most, traffic(candidate, graph_[at]).rows);
    const size_t row = std::max<size_t>(most / size_t(rows_), 1);
    int64_t rows = std::min(std::max(int64_t(room / row), fewest), rows_);
    while (rows >= fewest && !(rows_ % rows == 0 && are_aligned(candidate, rows_ / rows))) --rows;
    return rows >= fewest ? rows_ / rows : 1;
  }

  /// Those that cannot take the rows of one piece, as an op may name an extent in its options; else those
  /// that read too much for each piece, where all steps together do.
  std::vector<size_t> steps_to_leave_out(const Candidate& candidate, int64_t pieces) const {
    std::vector<size_t> unfit, heavy;
    Traffic all;
    for (size_t at : candidate.steps) {
      if (!fits(candidate, graph_[at], pieces)) unfit.push_back(at);
      const Traffic bytes = traffic(candidate, graph_[at]);
      if (!bytes.pays(pieces)) heavy.push_back(at);
      all.rows += bytes.rows, all.besides += bytes.besides;
    }
    if (!unfit.empty()) return unfit;
    return is_tested() || all.pays(pieces) ? std::vector<size_t>() : heavy;
  }

  bool fits(const Candidate& candidate, const Step& step, int64_t pieces) const {
    std::vector<TensorSpec> made;
    try {
      made = step.op->infer(specs_of(candidate, step.inputs, pieces), step.attributes);
    } catch (const Error&) {
      return false;
    }
    const std::vector<TensorSpec> wanted = specs_of(candidate, step.outputs, pieces);
    for (size_t k = 0; k < wanted.size(); ++k)
      if (wanted[k].defined && !(k < made.size() && made[k].shape == wanted[k].shape &&
                                 made[k].strides == wanted[k].strides && made[k].dtype == wanted[k].dtype))
        return false;
    return true;
  }

  // ---- cutting

  /// A value's rows of one piece.
  TensorSpec cut_spec(const Candidate& candidate, int value, int64_t pieces) const {
    TensorSpec spec = graph_.spec(value);
    const bool same_for_all = spec.shape.rank() > 0 && spec.shape[0] % rows_ == 0 && spec.strides[0] == 0;
    if (role_of(candidate, value) == Role::cut || same_for_all) spec.shape[0] /= pieces;
    return spec;
  }

  /// Returns the place behind the loop and the steps that add up its sums.
  size_t cut(const Candidate& candidate, int64_t pieces) {
    const std::vector<char> inner = inner_buffers(candidate);
    size_t first = candidate.first;
    for (size_t at : candidate.hoisted) {
      graph_.move(at, first);
      std::rotate(excluded_.begin() + int64_t(first), excluded_.begin() + int64_t(at),
                  excluded_.begin() + int64_t(at) + 1);
      ++first;
    }
    const size_t end = candidate.end();
    const int values = int(graph_.values().size());
    std::map<int, int> of_piece;
    std::vector<Step> sums;
    for (size_t at = first; at < end; ++at) {
      Step step = graph_[at];
      for (auto* list : {&step.inputs, &step.outputs})
        for (int& value : *list)
          if (value != kNoValue) value = value_of_piece(candidate, inner, value, pieces, of_piece, sums);
      graph_.replace(at, std::move(step));
    }
    for (int value = 0; value < values; ++value)  // nobody uses them any more
      if (inner_at(inner, value)) graph_.set_spec(value, TensorSpec::of({0}, graph_.spec(value).dtype));
    for (size_t i = 0; i < inner.size(); ++i)
      if (inner[i]) graph_.set_bytes(int(i), graph_.buffers()[i].bytes / size_t(pieces));
    loops_.push_back({int(first), int(end), int(pieces)});
    size_t place = end;
    for (Step& sum : sums) {
      graph_.insert(place, std::move(sum));
      excluded_.insert(excluded_.begin() + int64_t(place), false);
      ++place;
    }
    in_batch_.resize(graph_.buffers().size(), false);
    return place;
  }

  bool inner_at(const std::vector<char>& inner, int value) const {
    const auto buffer = size_t(graph_.buffer_of(value));
    return buffer < inner.size() && inner[buffer];
  }

  int value_of_piece(const Candidate& candidate, const std::vector<char>& inner, int value, int64_t pieces,
                     std::map<int, int>& of_piece, std::vector<Step>& sums) {
    if (const auto known = of_piece.find(value); known != of_piece.end()) return known->second;
    const Role role = role_of(candidate, value);
    const TensorSpec spec = cut_spec(candidate, value, pieces);
    int made = value;
    if (role == Role::summed)
      made = sum_of_piece(value, pieces, sums);
    else if (role == Role::cut || spec.shape != graph_.spec(value).shape) {
      const size_t bytes = graph_.memory_of(value).bytes / size_t(pieces);
      const bool moves = role == Role::cut && !inner_at(inner, value);
      made = graph_.add_value({graph_.buffer_of(value), graph_.offset_of(value), spec, moves ? bytes : 0});
    }
    of_piece[value] = made;
    return made;
  }

  /// Memory for the sums of all pieces, and a step that adds them.
  int sum_of_piece(int value, int64_t pieces, std::vector<Step>& sums) {
    const TensorSpec spec = graph_.spec(value);
    const size_t size = size_of(spec.dtype), bytes = arena_aligned(size_t(spec.shape.numel()) * size);
    const int buffer = graph_.add_buffer(
        {.kind = Kind::result, .storage = {}, .bytes = bytes * size_t(pieces), .device = kCpu});
    Shape shape{pieces};
    Strides strides{int64_t(bytes / size)};
    for (int axis = 0; axis < spec.shape.rank(); ++axis) {
      shape.push_back(spec.shape[axis]);
      strides.push_back(spec.strides[axis]);
    }
    const int all = graph_.add_value({buffer, 0, {shape, strides, spec.dtype, true}});
    const Step& adding = registry().sum_over_first_axis();
    sums.push_back({adding.op, adding.attributes, {all}, {value}});
    return graph_.add_value({buffer, 0, spec, bytes});
  }

  StepGraph& graph_;
  int64_t rows_;
  std::vector<char> in_batch_;  ///< by buffer
  std::vector<char> excluded_;  ///< by step
  std::vector<PieceLoop> loops_;
};

}  // namespace

int64_t rows_of_call(std::span<const Tensor> arguments) {
  int64_t rows = 0;
  for (const Tensor& argument : arguments) {
    if (argument.rank() == 0 || (rows != 0 && argument.size(0) != rows)) return 0;
    rows = argument.size(0);
  }
  return rows;
}

std::vector<PieceLoop> cut_into_pieces(StepGraph& graph, int64_t rows) { return Cutter(graph, rows).run(); }

namespace detail {
std::atomic<size_t> piece_bytes{0};
}

}  // namespace treadle
