/// Autocast: products in a half type, while parameters and their gradients stay f32.
///
///     Tensor value;
///     {
///       Autocast scope(DType::bf16);
///       value = cross_entropy(model(x), labels);
///     }
///     value.backward();
///     optimizer.step();
///
/// While a scope lives, ops of this thread take their operands as each op declares (AutocastPolicy): products
/// of matrices, convolutions and attention in the scope's dtype; softmax, losses, normalisations and sums in
/// f32; all others in the dtype that their operands have, promoted where it differs. The casts are ops with
/// gradients. Micikevicius et al., Mixed Precision Training, 2018.
#pragma once  // public

#include <cstdint>
#include <vector>

#include "treadle/core/tensor.h"

namespace treadle {

struct Op;

/// What a scope does with an op's operands.
enum class AutocastPolicy : uint8_t {
  none,  ///< it leaves them
  low,   ///< those in f32 and in the other half type become the scope's dtype
  full,  ///< those in f16 and bf16 become f32
  equal  ///< likewise, unless all floating ones have one dtype: for ops that take no mixture
};

/// A leaf that requires a gradient is cast once until it changes or the outermost scope ends. backward(),
/// grad() and an optimizer's steps compute as if there were no scope: gradients come in the dtypes of the
/// forward pass. A call with an operand in f64 is left as it is. A compiled function has a program for each
/// dtype that it is called under. Scopes end in the reverse order of their beginning.
class TREADLE_API Autocast {
 public:
  /// bf16 or f16; f32 ends casting until this scope ends. Throws DTypeError for others.
  explicit Autocast(DType dtype);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  DType before_;
};

/// The dtype of the scope in this thread; f32: none casts.
TREADLE_API DType autocast_dtype();

/// Used by apply(): brings the operands to what the op computes in, those of `fixed` (by number) excepted.
void autocast_operands(const Op& op, std::vector<Tensor>& inputs, const std::vector<int>& fixed = {});

}  // namespace treadle
