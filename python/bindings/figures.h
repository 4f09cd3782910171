/// Figures of a run as values of Python's.
#pragma once

#include <nanobind/stl/map.h>

#include "python/bindings/arguments.h"
#include "treadle/train/callback.h"

namespace treadle::python {

/// By name, in the order of the alphabet.
inline nb::dict dict_of(const Metrics& metrics) { return nb::cast<nb::dict>(nb::cast(metrics.values)); }

/// None where the part was not looked at.
inline nb::object dict_or_none(const Metrics& metrics) {
  return metrics.empty() ? nb::none() : nb::object(dict_of(metrics));
}

}  // namespace treadle::python
