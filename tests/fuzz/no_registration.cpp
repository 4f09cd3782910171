/// Stands in for the generated registration and for graph/: the readers need neither ops nor gradients nor
/// devices beside the CPU.
#include "treadle/core/runtime.h"
#include "treadle/core/tensor.h"
#include "treadle/data/dataset_registry.h"

namespace treadle {

namespace datasets {
void register_all(DatasetRegistry&);
}

void register_everything() {}
void datasets::register_all(DatasetRegistry&) {}

bool Tensor::requires_grad() const { return false; }

}  // namespace treadle
