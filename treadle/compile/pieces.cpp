#include "treadle/compile/pieces.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "treadle/compile/tuning.h"
#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/graph/op.h"

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

class Cutter {
 public:
  Cutter(StepGraph& graph, int64_t rows)
      : graph_(graph), rows_(rows), in_batch_(graph.buffers().size(), false) {}

  int run() {
    if (rows_ < 2 * kFewestRows || !is_of_rows()) return 1;
    const int64_t count = pieces();
    if (count == 1 || !fit_rules(count)) return 1;
    cut(count);
    return int(count);
  }

 private:
  bool is_in_batch(int value) const {
    return value != kNoValue && in_batch_[size_t(graph_.buffer_of(value))];
  }

  std::vector<TensorSpec> specs_of(const std::vector<int>& values, int64_t pieces = 1) const {
    std::vector<TensorSpec> specs;
    for (int value : values)
      specs.push_back(value == kNoValue ? TensorSpec{{}, {}, DType::f32, false} : cut_spec(value, pieces));
    return specs;
  }

  /// Of a captured tensor that is the same for all rows, a view.
  bool is_same_for_all_rows(int value) const {
    const TensorSpec& spec = graph_.spec(value);
    return !is_in_batch(value) && spec.shape.rank() > 0 && spec.strides[0] == 0;
  }

  /// Whether what a value has of each row of the batch lies within that row of its buffer.
  bool lies_by_rows(int value) const {
    const TensorSpec& spec = graph_.spec(value);
    const size_t bytes = graph_.memory_of(value).bytes, size = size_of(spec.dtype);
    if (spec.shape.rank() == 0 || spec.shape.numel() == 0 || spec.shape[0] % rows_ != 0) return false;
    if (bytes % size_t(rows_) != 0) return false;
    const size_t row = bytes / size_t(rows_);
    Shape one = spec.shape;
    one[0] /= rows_;
    return size_t(spec.strides[0] * one[0]) * size == row &&
           size_t(graph_.offset_of(value) + reach(one, spec.strides)) * size <= row;
  }

  /// Finds the buffers that hold rows of the batch. Whether all steps go from rows to rows.
  bool is_of_rows() {
    for (size_t i = 0; i < in_batch_.size(); ++i) {
      const GraphBuffer& buffer = graph_.buffers()[i];
      if (buffer.device != kCpu || buffer.kind == Kind::gradient || buffer.kind == Kind::numbers)
        return false;
      in_batch_[i] = buffer.kind == Kind::input;
    }
    for (size_t i = 0; i < graph_.size(); ++i)
      if (!is_of_rows(i)) return false;
    for (size_t i = 0; i < in_batch_.size(); ++i)
      if (graph_.buffers()[i].kind == Kind::output && !in_batch_[i]) return false;
    return true;
  }

  bool is_of_rows(size_t at) {
    const Step& step = graph_[at];
    if (!step.op->mutates.empty()) return false;
    const bool depends = std::ranges::any_of(step.inputs, [&](int value) { return is_in_batch(value); });
    if (!depends)  // the same for all rows
      return std::ranges::none_of(step.outputs, [&](int value) { return is_in_batch(value); });
    if (!step.op->rows) return false;
    const std::vector<TensorSpec> inputs = specs_of(step.inputs);
    const std::vector<int> by_row = step.op->rows(inputs, step.attributes);
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const int value = step.inputs[i];
      const bool has_rows = std::ranges::find(by_row, int(i)) != by_row.end();
      if (has_rows ? !(is_in_batch(value) && lies_by_rows(value)) && !is_same_for_all_rows(value)
                   : is_in_batch(value))
        return false;
    }
    for (int value : step.outputs) {
      if (value == kNoValue) continue;
      if (!is_in_batch(value) && graph_.maker_of(value, at) >= 0) return false;  // part of it is no row
      in_batch_[size_t(graph_.buffer_of(value))] = true;
      if (!lies_by_rows(value)) return false;
    }
    return true;
  }

  /// What the steps read and write of the batch's rows, and besides, in bytes.
  struct Traffic {
    size_t rows = 0, weights = 0;
    size_t of_step = 0;  ///< of the batch's rows, in the step that has most
  };
  Traffic traffic() const {
    Traffic all;
    for (size_t i = 0; i < graph_.size(); ++i) {
      if (!is_cut(graph_[i])) continue;
      std::set<int> buffers;
      for (const auto* values : {&graph_[i].inputs, &graph_[i].outputs})
        for (int value : *values)
          if (value != kNoValue) buffers.insert(graph_.buffer_of(value));
      size_t rows = 0;
      for (int buffer : buffers)
        (in_batch_[size_t(buffer)] ? rows : all.weights) += graph_.buffers()[size_t(buffer)].bytes;
      all.rows += rows;
      all.of_step = std::max(all.of_step, rows);
    }
    return all;
  }

  bool is_aligned(int64_t pieces) const {
    return std::ranges::all_of(graph_.buffers(), [&](const GraphBuffer& buffer) {
      const bool outside = buffer.kind == Kind::input || buffer.kind == Kind::output;
      return !outside || buffer.bytes / size_t(pieces) % kVariantAlignment == 0;
    });
  }

  /// As many rows in each as the caches hold.
  int64_t pieces() const {
    const size_t for_tests = detail::piece_bytes.load(std::memory_order_relaxed);
    const size_t room = for_tests ? for_tests : kBytesOfThread * size_t(num_threads());
    const int64_t fewest = for_tests ? kFewestRows : std::max<int64_t>(kFewestRows, num_threads());
    const Traffic bytes = traffic();
    const size_t row = std::max<size_t>(bytes.of_step / size_t(rows_), 1);
    int64_t rows = std::min(std::max(int64_t(room / row), fewest), rows_);
    while (rows >= fewest && !(rows_ % rows == 0 && is_aligned(rows_ / rows))) --rows;
    const bool pays = for_tests || bytes.weights * size_t(rows_ / std::max<int64_t>(rows, 1)) <=
                                       bytes.rows / kShareOfWeights;
    return rows >= fewest && pays ? rows_ / rows : 1;
  }

  /// A value's rows of one piece.
  TensorSpec cut_spec(int value, int64_t pieces) const {
    TensorSpec spec = graph_.spec(value);
    const bool same_for_all = spec.shape.rank() > 0 && spec.shape[0] % rows_ == 0 && spec.strides[0] == 0;
    if (is_in_batch(value) || same_for_all) spec.shape[0] /= pieces;
    return spec;
  }

  bool is_cut(const Step& step) const {
    return std::ranges::any_of(step.outputs, [&](int value) { return is_in_batch(value); });
  }

  /// An op may name an extent in its options.
  bool fit_rules(int64_t pieces) const {
    for (size_t i = 0; i < graph_.size(); ++i) {
      const Step& step = graph_[i];
      if (!is_cut(step)) continue;
      std::vector<TensorSpec> made;
      try {
        made = step.op->infer(specs_of(step.inputs, pieces), step.attributes);
      } catch (const Error&) {
        return false;
      }
      const std::vector<TensorSpec> wanted = specs_of(step.outputs, pieces);
      for (size_t k = 0; k < wanted.size(); ++k)
        if (wanted[k].defined && !(k < made.size() && made[k].shape == wanted[k].shape &&
                                   made[k].strides == wanted[k].strides && made[k].dtype == wanted[k].dtype))
          return false;
    }
    return true;
  }

  void cut(int64_t pieces) {
    const size_t values = graph_.values().size();
    std::vector<int> of_piece(values, kNoValue);
    auto cut_value = [&](int value) {
      if (value == kNoValue) return value;
      int& known = of_piece[size_t(value)];
      if (known != kNoValue) return known;
      const TensorSpec spec = cut_spec(value, pieces);
      const bool stays = is_inside(value) || spec.shape == graph_.spec(value).shape;
      return known =
                 stays ? value : graph_.add_value({graph_.buffer_of(value), graph_.offset_of(value), spec});
    };
    for (size_t i = 0; i < graph_.size(); ++i) {
      if (!is_cut(graph_[i])) continue;
      Step step = graph_[i];
      std::ranges::transform(step.inputs, step.inputs.begin(), cut_value);
      std::ranges::transform(step.outputs, step.outputs.begin(), cut_value);
      graph_.replace(i, std::move(step));
    }
    for (size_t i = 0; i < values; ++i)
      if (const int value = int(i); is_inside(value))
        graph_.set_spec(value, of_piece[i] == kNoValue ? TensorSpec::of({0}, graph_.spec(value).dtype)
                                                       : cut_spec(value, pieces));
    for (size_t i = 0; i < in_batch_.size(); ++i) {
      const GraphBuffer& buffer = graph_.buffers()[i];
      if (in_batch_[i] && buffer.kind == Kind::result)
        graph_.set_bytes(int(i), buffer.bytes / size_t(pieces));
    }
  }

  /// Whether the memory has the rows of one piece, as nobody outside sees it.
  bool is_inside(int value) const {
    return is_in_batch(value) && graph_.memory_of(value).kind == Kind::result;
  }

  StepGraph& graph_;
  int64_t rows_;
  std::vector<char> in_batch_;  ///< by buffer
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

int cut_into_pieces(StepGraph& graph, int64_t rows) { return Cutter(graph, rows).run(); }

namespace detail {
std::atomic<size_t> piece_bytes{0};
}

}  // namespace treadle
