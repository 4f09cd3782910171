/// Operands with zeros among their elements, while variants of a call are measured.
#pragma once

#include <string>
#include <vector>

#include "treadle/core/tensor.h"
#include "treadle/graph/op.h"

namespace treadle {

/// Whether a variant on the cpu skips zeros of the op's operands.
bool skips_zeros(const Op& op);

/// Shares of zeros in a call's operands on the cpu, in eighths: "zeros - 4 -"; empty where no variant skips
/// them. What was measured holds for these alone.
std::string describe_zeros(const Op& op, const Call& call);

/// A call whose operands with zeros are other ones each time they are drawn: elements of the real ones, at
/// random places. A processor that has met the same operands in the runs before foresees each branch on their
/// elements, which makes variants that skip zeros up to three times as fast as they are on data that changes.
/// Operands of the shape and layout of one with zeros are drawn with it, so that elements that belong
/// together stay together; what the op updates in place stays what it is. The call's memory must outlive it.
class DrawnOperands {
 public:
  DrawnOperands(const Op& op, const Call& call);
  DrawnOperands(const DrawnOperands&) = delete;
  DrawnOperands& operator=(const DrawnOperands&) = delete;

  const Call& call() const { return call_; }
  void draw();

 private:
  struct Operand {
    const void* from;
    IntrusivePtr<Storage> copy;
    size_t element;  ///< bytes
  };
  /// Of one shape and layout.
  struct Group {
    int64_t count;
    std::vector<Operand> operands;
  };

  uint64_t key_ = 0;
  std::vector<TensorView> inputs_;
  std::vector<Group> groups_;
  Call call_;
};

}  // namespace treadle
