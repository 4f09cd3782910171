/// Modules whose forward() is Python's.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/trampoline.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "treadle/nn/module.h"

namespace treadle::python {

namespace nb = nanobind;

/// A class of Python's that derives from Module.
class PythonModule : public Module {
 public:
  NB_TRAMPOLINE(Module, 2);

  std::string describe() const override;
  /// Calls forward() of the Python object. Where the call came from Python, `result` is what it returned, of
  /// whatever kind.
  std::vector<Tensor> forward_all(std::span<const Tensor> inputs) override;
  Tensor forward(const Tensor& x) override;
  nb::object call_from_python(const std::vector<Tensor>& inputs);

  using Module::remove;
  using Module::replace_buffer;
  using Module::replace_module;
  using Module::replace_parameter;

 private:
  nb::object* result_ = nullptr;
};

/// Keeps what a layer was made with, by the names of the parameters.
void keep_arguments(Module& module, std::initializer_list<std::pair<const char*, nb::object>> arguments);

}  // namespace treadle::python
