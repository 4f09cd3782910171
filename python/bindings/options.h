/// Options that C++ describes once, as keyword arguments of Python's.
#pragma once

#include <map>
#include <string>

#include "python/bindings/arguments.h"
#include "treadle/graph/options.h"

namespace treadle::python {

/// Each of the kind that its field has. Throws TypeError naming the field, ValueError for names that the
/// schema does not have.
std::map<std::string, OptionValue> option_values(const OptionsSchema& schema, const nb::dict& given);

/// Triples of name, default and documentation; defaults are those of `options`, which the schema describes.
nb::list described_options(const OptionsSchema& schema, const Attributes& options);
inline nb::list described_options(const OptionsSchema& schema) {
  return described_options(schema, schema.make({}));
}

/// What Python makes a class of: a kind with a name, what it is, and options.
template <class Kind>
nb::dict described_kind(const Kind& kind) {
  nb::dict found;
  found["name"] = kind.name;
  found["summary"] = kind.summary;
  found["options"] = described_options(*kind.options);
  return found;
}

}  // namespace treadle::python
