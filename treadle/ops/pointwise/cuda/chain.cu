/// Chains of pointwise ops on a device: one kernel, which reads the steps from its arguments.
#include <cstring>
#include <string>
#include <tuple>

#include "treadle/ops/device_variant.h"
#include "treadle/ops/pointwise/all_functions.h"
#include "treadle/ops/pointwise/chain_nest.h"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int kInputs = PointwiseChain::kMostInputs, kSteps = PointwiseChain::kMostSteps;

/// The number of `where` among functions; the others count from 0.
constexpr int kWhere = 255;
constexpr size_t kParameterBytes = 2 * sizeof(double);

struct DeviceStep {
  double parameters[2];  ///< bytes of the function's struct
  uint8_t function;
  uint8_t operands[3];  ///< registers: those of the inputs, then the slots
  uint8_t result;
  bool gives_bool;
};

struct DeviceInput {
  const void* data;
  DType dtype;
  Lie lie;
};

struct DeviceChain {
  int inputs, steps;
  DType dtype;
  DeviceInput input[kInputs];
  DeviceStep step[kSteps];
};

template <class C>
__device__ C load(const DeviceInput& input, int64_t offset) {
  switch (input.dtype) {
    case DType::f32:
      return C(static_cast<const float*>(input.data)[offset]);
    case DType::f64:
      return C(static_cast<const double*>(input.data)[offset]);
    case DType::f16:
      return C(float(static_cast<const __half*>(input.data)[offset]));
    case DType::bf16:
      return C(float(static_cast<const __nv_bfloat16*>(input.data)[offset]));
    default:
      return C(static_cast<const bool*>(input.data)[offset]);
  }
}

template <class C>
__device__ void store(DType dtype, void* y, int64_t i, C value) {
  switch (dtype) {
    case DType::f32:
      static_cast<float*>(y)[i] = float(value);
      break;
    case DType::f64:
      static_cast<double*>(y)[i] = double(value);
      break;
    case DType::f16:
      static_cast<__half*>(y)[i] = __half(float(value));
      break;
    case DType::bf16:
      static_cast<__nv_bfloat16*>(y)[i] = __nv_bfloat16(float(value));
      break;
    default:
      static_cast<bool*>(y)[i] = value != C(0);
  }
}

/// What a value is after it has been stored.
template <class C>
__device__ C rounded(DType dtype, C value) {
  if (dtype == DType::f16) return C(float(__half(float(value))));
  if (dtype == DType::bf16) return C(float(__nv_bfloat16(float(value))));
  return value;
}

template <class F, class C>
__device__ C call(const double* parameters, C a, C b) {
  static_assert(sizeof(F) <= kParameterBytes && std::is_trivially_copyable_v<F>,
                "a step has room for two numbers");
  F f;
  memcpy(static_cast<void*>(&f), parameters, sizeof f);
  if constexpr (F::kOperands == 1)
    return C(f(a));
  else
    return C(f(a, b));
}

/// Function `number` of those from kFirst to kLast, found by halving.
template <class List, int kFirst, int kLast, class C>
__device__ C call_number(int number, const double* parameters, C a, C b) {
  if constexpr (kFirst == kLast) {
    return call<std::tuple_element_t<kFirst, List>>(parameters, a, b);
  } else {
    constexpr int kMiddle = (kFirst + kLast) / 2;
    return number <= kMiddle ? call_number<List, kFirst, kMiddle>(number, parameters, a, b)
                             : call_number<List, kMiddle + 1, kLast>(number, parameters, a, b);
  }
}

template <class C, class... F>
__device__ C evaluate(FunctionList<F...>, const DeviceStep& step, const C* registers) {
  const C a = registers[step.operands[0]], b = registers[step.operands[1]];
  if (step.function == kWhere) return a != C(0) ? b : registers[step.operands[2]];
  return call_number<std::tuple<F...>, 0, int(sizeof...(F)) - 1>(step.function, step.parameters, a, b);
}

/// One thread per element: each input is read and the result written once, whatever the number of steps.
template <class C>
__global__ void pointwise_chain(DeviceChain chain, ChainNest nest, void* y, DType result) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nest.numel) return;
  C registers[kInputs + PointwiseChain::kMostSlots];
  for (int k = 0; k < chain.inputs; ++k) {
    const DeviceInput& input = chain.input[k];
    int64_t offset = input.lie == Lie::constant ? 0 : i;
    if (input.lie == Lie::otherwise) {
      int64_t offsets[kInputs + 1];
      nest.offsets(i, offsets);
      offset = offsets[k + 1];
    }
    registers[k] = load<C>(input, offset);
  }
  C value = 0;
  for (int s = 0; s < chain.steps; ++s) {
    const DeviceStep& step = chain.step[s];
    value = evaluate<C>(AllFunctions{}, step, registers);
    if (!step.gives_bool) value = rounded(chain.dtype, value);
    registers[step.result] = value;
  }
  store(result, y, i, value);
}

template <class F>
std::string name_of_function(const F*) {
  return F::kName;
}
template <class F>
std::string name_of_function(const GradientOf<F>*) {
  return std::string(F::kName) + "_gradient";
}

/// The number of an op among all functions, and its options as bytes. False where F is another op's.
template <class F>
bool set_function(const ChainStep& from, int number, DeviceStep& step) {
  if (from.op != name_of_function(static_cast<const F*>(nullptr))) return false;
  const F f = from.attributes ? from.attributes.as<F>() : F{};
  std::memcpy(step.parameters, static_cast<const void*>(&f), sizeof f);
  step.function = uint8_t(number);
  step.gives_bool = std::is_base_of_v<ComparisonFunction, F>;
  return true;
}

template <class... F>
void set_function(FunctionList<F...>, const ChainStep& from, DeviceStep& step) {
  static_assert(sizeof...(F) < kWhere);
  step.function = kWhere;
  int number = 0;
  (set_function<F>(from, number++, step) || ...);
}

DeviceStep device_step(const PointwiseChain& chain, size_t i) {
  DeviceStep step{};
  const ChainStep& from = chain.steps()[i];
  auto place = [&](int operand) {
    return uint8_t(operand < chain.inputs()
                       ? operand
                       : chain.inputs() + chain.slots()[size_t(operand - chain.inputs())]);
  };
  for (size_t k = 0; k < from.operands.size(); ++k) step.operands[k] = place(from.operands[k]);
  step.result = place(chain.inputs() + int(i));
  set_function(AllFunctions{}, from, step);
  return step;
}

void run_chain(const Call& call) {
  const auto& chain = call.options<PointwiseChain>();
  const ChainNest nest = chain_nest(call);
  DeviceChain steps{chain.inputs(), int(chain.steps().size()), call.input(0).dtype, {}, {}};
  for (int k = 0; k < steps.inputs; ++k)
    steps.input[k] = {call.input(k).data, call.input(k).dtype, lie_of(nest, k)};
  for (int i = 0; i < steps.steps; ++i) steps.step[i] = device_step(chain, size_t(i));
  auto run = [&](auto tag) {
    launch<pointwise_chain<typename decltype(tag)::type>, independent>(
        stream_of(call), blocks_for(nest.numel), kThreads, 0, steps, nest, call.output().data,
        call.output().dtype);
  };
  if (steps.dtype == DType::f64)
    run(TypeTag<double>{});
  else
    run(TypeTag<float>{});
}

}  // namespace

void register_pointwise_cuda_chain(Registry& registry) {
  add_variant(registry, "pointwise_chain", {.name = "naive", .device = kDevice, .run = run_chain});
}

}  // namespace treadle::TREADLE_TARGET
