/// Options that C++ describes once, as keyword arguments of Python's.
#pragma once

#include <map>
#include <string>

#include "python/bindings/arguments.h"
#include "treadle/graph/options.h"

namespace treadle::python {

nb::object option_object(const OptionValue& value);

/// Of the kind that the field has. Throws TypeError naming the field.
OptionValue option_value(const OptionField& field, nb::handle value);

/// Throws ValueError for names that the schema does not have.
std::map<std::string, OptionValue> option_values(const OptionsSchema& schema, const nb::dict& given);

/// Triples of name, default and documentation; defaults are those of `options`, which the schema describes.
nb::list described_options(const OptionsSchema& schema, const Attributes& options);

}  // namespace treadle::python
