/// The ways in which a program is run, and how far their results may be apart.
#pragma once

#include "tests/random/program.h"

namespace treadle::random_programs {

/// Results of a program and its parameters' gradients: row-major values.
struct Evaluation {
  std::vector<std::vector<double>> tensors;
  std::vector<Shape> shapes;
  std::vector<std::string> names;
};

/// What a correct f32 program may differ from the f64 one, per tensor, in any element.
///
/// An op's result and its gradients may be off by a unit of 2^-24 for each term of their sums. Each operand
/// of each step, each result, and the gradient that passes there is disturbed by that, with random signs, in
/// f64; the program then carries it on as it carries real errors. The largest deviation of several such runs,
/// times a factor for what random signs cancel, is allowed.
struct Expectation {
  Evaluation exact;
  std::vector<double> allowed;
  /// What an f64 program may differ: the same arithmetic with units of 2^-53.
  double allowed_in_f64(size_t i) const { return allowed[i] * 0x1p-29; }
};

Expectation expect(const Program& program);

/// Runs the program in every way; the first that gives other than what is expected is described. Empty when
/// all agree. Adds the number of ways to `ways`.
std::string first_difference(const Program& program, const Expectation& expectation, int64_t& ways);

}  // namespace treadle::random_programs
