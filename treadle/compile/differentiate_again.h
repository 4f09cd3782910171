/// DifferentiateAgain: records the steps of one recording again, and takes gradients afresh.
#pragma once

#include <map>
#include <vector>

#include "treadle/compile/recorder.h"

namespace treadle {

/// Needs tensors and their places in autograd's graph, not values alone: hence the records beside the steps.
class DifferentiateAgain {
 public:
  DifferentiateAgain(const Recorder& from, Recorder& into);

  /// Records the steps of `graph`, which come from the recording and are without derived ones, into the other
  /// one. Throws Error where what follows a fused step cannot be recorded again, such as a view of another
  /// layout.
  void run(const RecordedGraph& graph);
  /// The tensor that stands for a value of the first recording in the other one.
  Tensor tensor(int value);

 private:
  Tensor fresh(int value);
  Tensor alias(int value);
  void bind(int value, const Tensor& tensor);
  Tensor input(const Step& step, const StepRecord& record, size_t i);
  Tensor in_graph(int value, const IntrusivePtr<AutogradState>& state, bool is_leaf);
  void run_step(const Step& step, const StepRecord& record);
  void run_backward(const Step& step, const RecordedBackward& backward);

  const Recorder& from_;
  Recorder& into_;
  std::vector<Tensor> mapped_;  ///< by value
  std::vector<int> bases_;      ///< by buffer: a value of it that is mapped
  std::map<GraphPlace, Tensor> in_graph_;
};

}  // namespace treadle
