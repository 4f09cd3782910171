#include "tests/random/minimize.h"

#include <algorithm>

#include "tests/random/generate.h"
#include "treadle/graph/autograd.h"

namespace treadle::random_programs {
namespace {

std::vector<Shape> shapes_of(const Program& program) {
  NoGrad no_grad;
  auto values = make_leaves(program, DType::f64, kCpu);
  for (const Step& step : program.steps) values.push_back(run_step(step, inputs_of(step, values)));
  std::vector<Shape> shapes;
  for (const Tensor& value : values) shapes.push_back(value.shape());
  return shapes;
}

/// Everything that takes `value` takes `other` instead.
void replace(Program& program, int value, int other) {
  for (Step& step : program.steps) std::replace(step.inputs.begin(), step.inputs.end(), value, other);
  std::replace(program.results.begin(), program.results.end(), value, other);
}

/// Numbers values anew after those for which `keeps` is false went.
Program with_only(const Program& program, const std::vector<bool>& keeps) {
  std::vector<int> place(keeps.size(), -1);
  Program kept;
  kept.seed = program.seed;
  int next = 0;
  const size_t leaves = program.leaves.size();
  for (size_t v = 0; v < keeps.size(); ++v) {
    if (!keeps[v]) continue;
    place[v] = next++;
    if (v < leaves)
      kept.leaves.push_back(program.leaves[v]);
    else
      kept.steps.push_back(program.steps[v - leaves]);
  }
  for (Step& step : kept.steps)
    for (int& input : step.inputs) input = place[size_t(input)];
  for (int result : program.results)
    if (place[size_t(result)] >= 0) kept.results.push_back(place[size_t(result)]);
  return kept;
}

/// Without what neither the loss nor a result needs.
Program without_unused(const Program& program) {
  std::vector<bool> used(program.leaves.size() + program.steps.size(), false);
  for (int result : program.results) used[size_t(result)] = true;
  for (size_t s = program.steps.size(); s-- > 0;)
    if (used[program.leaves.size() + s])
      for (int input : program.steps[s].inputs) used[size_t(input)] = true;
  return with_only(program, used);
}

/// Step `s` gone: what took it takes input `k` instead, if that has its shape.
std::vector<Program> passed_by(const Program& program, size_t s, const std::vector<Shape>& shapes) {
  std::vector<Program> candidates;
  const int value = int(program.leaves.size() + s);
  for (int input : program.steps[s].inputs) {
    if (!(shapes[size_t(input)] == shapes[size_t(value)])) continue;
    candidates.push_back(program);
    replace(candidates.back(), value, input);
  }
  return candidates;
}

/// Step `s` gone: a new leaf of its shape stands in its place.
Program cut_off(const Program& program, size_t s, const Shape& shape) {
  Program changed = program;
  const int leaves = int(program.leaves.size()), value = leaves + int(s);
  changed.leaves.push_back({Leaf::Kind::parameter, shape, 1, 0, uint32_t(9000 + s), false});
  auto shift = [&](int& number) { number = number == value ? leaves : number + (number >= leaves); };
  for (Step& step : changed.steps)
    for (int& input : step.inputs) shift(input);
  for (int& result : changed.results) shift(result);
  return changed;
}

/// Smaller ones first.
std::vector<Program> smaller(const Program& program) {
  std::vector<Program> candidates;
  const auto shapes = shapes_of(program);
  for (size_t r = 0; r + 1 < program.results.size(); ++r) {
    candidates.push_back(program);
    candidates.back().results.erase(candidates.back().results.begin() + int64_t(r));
  }
  for (size_t s = program.steps.size(); s-- > 0;) {
    for (const Program& candidate : passed_by(program, s, shapes)) candidates.push_back(candidate);
    candidates.push_back(cut_off(program, s, shapes[program.leaves.size() + s]));
  }
  for (size_t l = 0; l < program.leaves.size(); ++l)
    if (program.leaves[l].is_parameter()) {
      candidates.push_back(program);
      candidates.back().leaves[l].kind = Leaf::Kind::input;
    }
  for (Program& candidate : candidates) candidate = without_unused(candidate);
  return candidates;
}

bool is_sound(const Program& program) {
  try {
    return !program.steps.empty() && program.results.back() == program.loss() && is_well_conditioned(program);
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

Program minimized(Program program, const std::function<bool(const Program&)>& fails) {
  for (bool again = true; again;) {
    again = false;
    for (const Program& candidate : smaller(program)) {
      if (!is_sound(candidate) || !fails(candidate)) continue;
      program = candidate, again = true;
      break;
    }
  }
  return program;
}

}  // namespace treadle::random_programs
