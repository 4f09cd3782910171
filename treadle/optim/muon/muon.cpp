#include "treadle/optim/muon/muon.h"

#include <algorithm>
#include <cmath>

#include "treadle/core/error.h"
#include "treadle/core/nearest_name.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/declare_grouped_rule.h"

namespace treadle {
namespace {

using Scale = double (*)(double rows, double columns);

const std::map<std::string, Scale>& scales() {
  static const std::map<std::string, Scale> all{
      {"original", [](double a, double b) { return std::sqrt(std::max(1.0, a / b)); }},
      {"match_rms_adamw", [](double a, double b) { return 0.2 * std::sqrt(std::max(a, b)); }},
      {"spectral_unclamped", [](double a, double b) { return std::sqrt(a / b); }}};
  return all;
}

std::vector<std::string> scale_names() {
  std::vector<std::string> names;
  for (const auto& [name, scale] : scales()) names.push_back(name);
  return names;
}

void check(const MuonOptions& o) {
  for (double value : {o.momentum, o.weight_decay, o.epsilon})
    require<ValueError>(value >= 0 && std::isfinite(value),
                        "Muon: momentum, weight decay and epsilon are {}, {} and {}; they must be finite and "
                        "not negative",
                        o.momentum, o.weight_decay, o.epsilon);
  require<ValueError>(o.iterations >= 0 && o.iterations < 100, "Muon: {} iterations; there must be 0 to 99",
                      o.iterations);
  if (!scales().count(o.scale))
    throw ValueError(unknown_name("Muon: no scale is called", o.scale, scale_names()));
}

/// The iteration of Newton and Schulz, on the side with fewer rows.
Tensor orthogonal(const Tensor& d, const MuonOptions& o) {
  const bool tall = d.shape()[0] > d.shape()[1];
  Tensor x = tall ? contiguous(transpose(d, 0, 1)) : d;
  x = x / maximum(sqrt(sum(x * x)), o.epsilon);
  for (int64_t i = 0; i < o.iterations; ++i) {
    const Tensor gram = matmul(x, transpose(x, 0, 1));
    x = x * 3.4445 + matmul(gram * -4.775 + matmul(gram, gram) * 2.0315, x);
  }
  return tall ? transpose(x, 0, 1) : x;
}

/// As a matrix, row by row in memory: parameters of one value have one step, however they lie.
Tensor as_matrix(const Tensor& x) {
  const Tensor rows = reshape(contiguous(x), {x.shape()[0], x.numel() / std::max<int64_t>(x.shape()[0], 1)});
  return x.dtype() == DType::f64 ? rows : cast(rows, DType::f32);
}

class UpdateByMuon final : public UpdateRule {
 public:
  explicit UpdateByMuon(const MuonOptions& options) : options_(options) { check(options); }

  std::string name() const override { return "Muon"; }
  const std::vector<std::string>& slots() const override {
    static const std::vector<std::string> names{"momentum"};
    return names;
  }

  /// The rate as a tensor either way, so that recorded steps have the bits of eager ones.
  void update(const Tensor& numbers, StepNumbers n, const std::vector<Tensor>& operands) const override {
    const Tensor rate =
        numbers.defined() ? reshape(slice(numbers, 0, 0, 1), {})
                          : to(Tensor::from(std::vector<double>{n.learning_rate}, {}), operands[0].device());
    for (size_t i = 0; i < operands.size(); i += 3)
      update_one(rate, operands[i], operands[i + 1], operands[i + 2]);
  }

 private:
  void update_one(const Tensor& rate, const Tensor& p, const Tensor& g, const Tensor& m) const {
    require<ShapeError>(p.rank() >= 2, "Muon: a parameter has shape {}; it needs two axes or more",
                        p.shape());
    if (p.numel() == 0) return;
    copy_into(m, m + (g - m) * (1 - options_.momentum));
    const Tensor direction = as_matrix(options_.nesterov ? g + (m - g) * options_.momentum : m);
    const double scale =
        scales().at(options_.scale)(double(direction.shape()[0]), double(direction.shape()[1]));
    const Tensor step = cast(reshape(orthogonal(direction, options_), p.shape()), p.dtype());
    copy_into(p, p * (1 - rate * options_.weight_decay) - step * (rate * scale));
  }

  MuonOptions options_;
};

}  // namespace

std::shared_ptr<const UpdateRule> update_by_muon(const MuonOptions& options) {
  return std::make_shared<UpdateByMuon>(options);
}

std::vector<ParameterGroup> muon_groups(const std::vector<NamedTensor>& parameters,
                                        const MuonOptions& options, bool decay_vectors) {
  const double decay = decay_vectors ? options.weight_decay : 0;
  std::vector<ParameterGroup> groups{{{}, update_by_muon(options)},
                                     {{}, update_called("adamw", {{"weight_decay", decay}})}};
  for (const NamedTensor& parameter : parameters)
    groups[parameter.tensor.rank() < 2].parameters.push_back(parameter);
  return groups;
}

namespace rules {

void register_muon() { declare_grouped_rule<MuonOptions>("muon", {.name = "Muon"}, muon_groups); }

}  // namespace rules
}  // namespace treadle
