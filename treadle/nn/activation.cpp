#include "treadle/nn/activation.h"

#include "treadle/core/error.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/softmax/softmax.h"

namespace treadle {

ReLU::ReLU() : Activation("ReLU", relu) {}
ReLU6::ReLU6() : Activation("ReLU6", [](const Tensor& x) { return clamp(x, 0, 6); }) {}
LeakyReLU::LeakyReLU(double slope)
    : Activation(fmt::format("LeakyReLU({})", slope), [=](const Tensor& x) { return leaky_relu(x, slope); }) {
}
ELU::ELU(double alpha)
    : Activation(fmt::format("ELU({})", alpha), [=](const Tensor& x) { return elu(x, alpha); }) {}
CELU::CELU(double alpha)
    : Activation(fmt::format("CELU({})", alpha), [=](const Tensor& x) { return celu(x, alpha); }) {}
SELU::SELU() : Activation("SELU", selu) {}
GELU::GELU() : Activation("GELU", gelu) {}
SiLU::SiLU() : Activation("SiLU", silu) {}
Mish::Mish() : Activation("Mish", mish) {}
Hardswish::Hardswish() : Activation("Hardswish", hard_swish) {}
Softplus::Softplus(double beta)
    : Activation(fmt::format("Softplus({})", beta), [=](const Tensor& x) { return softplus(x, beta); }) {}
Sigmoid::Sigmoid() : Activation("Sigmoid", sigmoid) {}
LogSigmoid::LogSigmoid() : Activation("LogSigmoid", log_sigmoid) {}
Tanh::Tanh() : Activation("Tanh", tanh) {}
Hardtanh::Hardtanh(double low, double high)
    : Activation(fmt::format("Hardtanh({}, {})", low, high),
                 [=](const Tensor& x) { return clamp(x, low, high); }) {}
Softmax::Softmax(int64_t axis)
    : Activation(fmt::format("Softmax({})", axis), [=](const Tensor& x) { return softmax(x, axis); }) {}
LogSoftmax::LogSoftmax(int64_t axis)
    : Activation(fmt::format("LogSoftmax({})", axis), [=](const Tensor& x) { return log_softmax(x, axis); }) {
}

PReLU::PReLU(int64_t slopes, double first) {
  require<ShapeError>(slopes > 0, "PReLU: {} slopes, at least one is needed", slopes);
  weight = register_parameter("weight", full({slopes}, first));
}

std::string PReLU::describe() const { return fmt::format("PReLU({})", weight.size(0)); }

}  // namespace treadle
