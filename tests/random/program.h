/// A program of tensors as data: what the generator writes, Treadle and PyTorch run, and files hold as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "treadle/core/tensor.h"

namespace treadle::random_programs {

/// A tensor from outside. Its elements come from the hash of tests/goldens: element i, row-major, is scale ·
/// signed(seed, i), or mix(seed, i) modulo `classes` for indices.
struct Leaf {
  enum class Kind { parameter, input, indices } kind = Kind::input;  ///< of parameters gradients are taken
  Shape shape;
  double scale = 1;  ///< a power of two
  int64_t classes = 0;
  uint32_t seed = 0;
  bool reversed = false;  ///< lies in memory with its first axis innermost

  bool is_parameter() const { return kind == Kind::parameter; }
};

/// value = op(values[inputs]…); see kSteps in program.cpp for the ops and their options.
struct Step {
  std::string op;
  std::vector<int> inputs;
  nlohmann::json options = nlohmann::json::object();
};

/// Values are numbered: leaves first, then one for each step. The last one, of rank 0, is the loss.
struct Program {
  uint64_t seed = 0;
  std::vector<Leaf> leaves;
  std::vector<Step> steps;
  std::vector<int> results;  ///< values that the program returns, the loss last

  int loss() const { return int(leaves.size() + steps.size()) - 1; }
};

nlohmann::json to_json(const Program& program);
Program program_from(const nlohmann::json& json);

/// The elements of a leaf; floating ones in `dtype`.
Tensor make_leaf(const Leaf& leaf, DType dtype, Device device);
std::vector<Tensor> make_leaves(const Program& program, DType dtype, Device device);

/// Names of the ops that steps may have.
std::vector<std::string> step_names();

/// Throws what the ops throw.
Tensor run_step(const Step& step, const std::vector<Tensor>& inputs);

/// The inputs of a step among all values.
std::vector<Tensor> inputs_of(const Step& step, const std::vector<Tensor>& values);

/// How far the inputs are from a place where the step has no derivative or its result jumps: infinite for
/// smooth steps.
double distance_to_kink(const Step& step, const std::vector<Tensor>& inputs);

}  // namespace treadle::random_programs
