/// Optimizers by any rule, and what stands beside them: clipping, loss scaling, averages of weights.
#include <nanobind/stl/pair.h>

#include "python/bindings/named_tensors.h"
#include "python/bindings/options.h"
#include "python/bindings/rooms.h"
#include "treadle/optim/clip_gradients.h"
#include "treadle/optim/loss_scaler.h"
#include "treadle/optim/rule_optimizer.h"
#include "treadle/optim/weight_average.h"

namespace treadle::python {
namespace {

using Pairs = std::vector<std::pair<std::string, Tensor>>;

nb::dict description(const std::string& rule, const OptimizerClass& as_class, const OptionsSchema& schema,
                     const Attributes& options) {
  nb::dict found;
  found["rule"] = rule;
  found["name"] = as_class.name;
  found["lr"] = as_class.learning_rate;
  found["options"] = described_options(schema, options);
  return found;
}

nb::list rules() {
  nb::list all;
  for (const Rule& rule : known_rules())
    for (const NamedOptions& preset : rule.presets)
      all.append(description(preset.name, preset.as_class, *rule.options, preset.options));
  for (const GroupedRule& rule : known_grouped_rules())
    all.append(description(rule.name, rule.as_class, *rule.options, rule.options->make({})));
  return all;
}

std::vector<ParameterGroup> groups(const std::string& rule, const Pairs& parameters, const nb::dict& options,
                                   bool decay_vectors, double rate_factor) {
  std::vector<NamedTensor> named;
  for (const auto& [name, tensor] : parameters) named.push_back({name, tensor});
  const OptimizerSettings settings{option_values(optimizer_options(rule), options), decay_vectors};
  auto made = groups_called(rule, std::move(named), settings);
  for (ParameterGroup& group : made) group.rate_factor = rate_factor;
  return made;
}

void bind_optimizer(nb::module_& m) {
  nb::class_<ParameterGroup>(m, "_Group");
  m.def("_rules", rules);
  m.def("_groups", groups);
  nb::class_<Optimizer>(m, "Optimizer", nb::is_weak_referenceable(),
                        "Updates parameters from their gradients.")
      .def("__init__", [](Optimizer* self, const std::vector<ParameterGroup>& groups,
                          double learning_rate) { new (self) Optimizer(groups, learning_rate); })
      .def("_step", &Optimizer::step, nb::call_guard<nb::gil_scoped_release>())
      .def("zero_grad", &Optimizer::zero_grad, nb::call_guard<nb::gil_scoped_release>(),
           "Drops all gradients.")
      .def("parameters", &Optimizer::parameters, "Those of all groups.")
      .def_prop_rw("learning_rate", &Optimizer::learning_rate, &Optimizer::set_learning_rate,
                   "The rate of the last step, or the one set since; setting one ends a schedule.")
      .def_prop_ro("step_count", &Optimizer::step_count, "Steps made so far.")
      .def("set_schedule", &Optimizer::set_schedule, nb::arg("schedule"),
           "From now on each step takes the rate schedule.at(steps made before it).")
      .def("_set_rate_factor", &Optimizer::set_rate_factor)
      .def("_state", [](const Optimizer& self) { return dict_of(self.state()); })
      .def("_load_state", [](Optimizer& self, const nb::dict& state) {
        const auto values = tensors_of(state);
        nb::gil_scoped_release released;
        self.load_state(values);
      });
}

void bind_clipping(nb::module_& m) {
  m.def(
      "clip_grad_norm_",
      [](const std::vector<Tensor>& parameters, double max_norm) {
        nb::gil_scoped_release released;
        return clip_gradient_norm(parameters, max_norm);
      },
      nb::arg("parameters"), nb::arg("max_norm"),
      "Scales the gradients of all parameters by min(1, max_norm / (norm + 1e-6)), norm being that of all "
      "their elements together, and returns it as it was: a tensor of rank 0. Raises ValueError for a bound "
      "that is negative or NaN. Pascanu, Mikolov and Bengio, 2013.");
  m.def(
      "clip_grad_value_",
      [](const std::vector<Tensor>& parameters, double clip_value) {
        nb::gil_scoped_release released;
        clip_gradient_values(parameters, clip_value);
      },
      nb::arg("parameters"), nb::arg("clip_value"),
      "Brings each element of the gradients into [-clip_value, clip_value]. Raises ValueError for a bound "
      "that is negative or NaN.");
}

void bind_scaler(nb::module_& m) {
  using S = LossScaler;
  const LossScalerOptions o;
  nb::class_<S>(
      m, "LossScaler", nb::is_weak_referenceable(),
      "Keeps the gradients of float16 from vanishing: the loss is multiplied by a factor, gradients "
      "are divided by it, and a step whose gradients are not finite is left out as a whole. "
      "Micikevicius et al., Mixed Precision Training, 2018; PyTorch's GradScaler.")
      .def(
          "__init__",
          [](S* self, double initial, double growth, double backoff, int64_t interval, Device device) {
            new (self) S({initial, growth, backoff, interval}, device);
          },
          nb::arg("initial") = o.initial, nb::arg("growth") = o.growth, nb::arg("backoff") = o.backoff,
          nb::arg("interval") = o.interval, nb::arg("device") = kCpu,
          "initial: the first factor; growth: of the factor after `interval` good steps in a row; backoff: "
          "of the factor after a step that was left out.")
      .def("scale", &S::scale, nb::arg("loss"), nb::call_guard<nb::gil_scoped_release>(), "loss · factor.")
      .def("unscale", &S::unscale, nb::arg("optimizer"), nb::call_guard<nb::gil_scoped_release>(),
           "Divides the gradients by the factor, where they are looked at before the step, as clipping does.")
      .def("step", &S::step, nb::arg("optimizer"), nb::call_guard<nb::gil_scoped_release>(),
           "The optimizer's step, unless a gradient is not finite.")
      .def("proceeds", &S::proceeds, nb::arg("optimizer"),
           "Whether the gradients were finite, since unscale(): a bool of rank 0.")
      .def("update", &S::update, nb::call_guard<nb::gil_scoped_release>(),
           "Makes the factor what it will be.")
      .def_prop_ro("factor", &S::factor, "What the loss is multiplied by now.")
      .def_prop_ro("good_steps", &S::good_steps, "Since the factor last changed.")
      .def_prop_ro("skipped_steps", &S::skipped_steps, "Steps that were left out so far.")
      .def(
          "state_dict", [](const S& self) { return dict_of(self.state()); }, "Tensors by name.")
      .def(
          "load_state_dict", [](S& self, const nb::dict& state) { self.load_state(tensors_of(state)); },
          nb::arg("state"), "Restores what state_dict() gave.");
}

void bind_average(nb::module_& m) {
  using W = WeightAverage;
  nb::class_<W>(
      m, "WeightAverage", nb::is_weak_referenceable(),
      "An exponential moving average of a model's weights: shadow = decay·shadow + (1 - decay)·value "
      "at each update(). Polyak and Juditsky, 1992.")
      .def(nb::init<const Module&, double>(), nb::arg("model"), nb::arg("decay") = 0.999,
           "Of the model's parameters and buffers. Raises ValueError unless 0 <= decay < 1.")
      .def(
          "update",
          [](W& self, const Tensor* proceeds) {
            nb::gil_scoped_release released;
            self.update(or_undefined(proceeds));
          },
          nb::arg("proceeds").none() = nb::none(),
          "Once after each step of the optimizer. Where `proceeds`, a bool of rank 0, is given and false, "
          "the average stays.")
      .def("swap", &W::swap, nb::call_guard<nb::gil_scoped_release>(),
           "Exchanges the average and the model's weights: to evaluate it, and again to train on.")
      .def(
          "state_dict", [](const W& self) { return dict_of(self.shadows()); },
          "The average, under the names of the weights.")
      .def(
          "load_state_dict", [](W& self, const nb::dict& state) { self.load_shadows(tensors_of(state)); },
          nb::arg("state"), "Takes the average of state_dict().");
}

}  // namespace

void bind_optim(nb::module_& m) {
  nb::module_ part = m.def_submodule("_optim", "Optimizers.");
  bind_optimizer(part);
  bind_clipping(part);
  bind_scaler(part);
  bind_average(part);
}

}  // namespace treadle::python
