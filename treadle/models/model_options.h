/// Options of models, from the texts that a command line and checkpoints hold.
#pragma once

#include <charconv>
#include <map>
#include <string>
#include <type_traits>

#include "treadle/core/error.h"
#include "treadle/graph/options.h"

namespace treadle {

/// The text as a number of the field's kind. Throws ValueError where it is none, naming the option.
template <class Number>
OptionValue number_in(const OptionField& field, const std::string& text) {
  Number number{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  require<ValueError>(error == std::errc() && end == text.data() + text.size(), "{}: '{}' is not a {}number",
                      field.name, text, std::is_integral_v<Number> ? "whole " : "");
  return number;
}

/// `Options` of whole numbers and others, with these values by the names of its describe(). Throws ValueError
/// for names that it does not have and texts that are no such numbers.
template <class Options>
Options options_in(const std::map<std::string, std::string>& texts) {
  const OptionsSchema& schema = schema_of<Options>();
  std::map<std::string, OptionValue> values;
  for (const auto& [name, text] : texts) {
    const OptionField& field = schema.field(name);
    const bool whole = std::holds_alternative<int64_t>(field.default_value);
    values[name] = whole ? number_in<int64_t>(field, text) : number_in<double>(field, text);
  }
  return schema.make(values).template as<Options>();
}

}  // namespace treadle
