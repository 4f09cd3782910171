/// Options described once: name, type, default and one line each, read by the CLI, printing, ONNX and the
/// docs.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "treadle/core/dtype.h"
#include "treadle/core/geometry.h"
#include "treadle/core/shape.h"
#include "treadle/graph/attributes.h"

namespace treadle {

/// An option's value outside its struct.
using OptionValue = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>>;

TREADLE_API std::string to_string(const OptionValue& value);

/// One field of an options struct: a bool, int64_t, double, std::string, DType, Pair, Pads, Dims or
/// std::vector<int64_t>.
/// `set` throws ValueError where the value is of another kind.
struct OptionField {
  std::string name, documentation;
  OptionValue default_value;
  std::function<OptionValue(const void*)> get;
  std::function<void(void*, const OptionValue&)> set;
};

/// All fields of an options struct, and how to make one from named values.
struct OptionsSchema {
  std::vector<OptionField> fields;
  std::function<Attributes(const std::map<std::string, OptionValue>&)> make;

  /// "stride=[2, 2] groups=1"
  TREADLE_API std::string describe(const Attributes& attributes) const;
  TREADLE_API const OptionField& field(const std::string& name) const;
};

namespace detail {
/// The field that lies `offset` bytes into a struct.
template <class Field>
TREADLE_API OptionField option_field(const char* name, const char* documentation, const Field& default_value,
                                     ptrdiff_t offset);
}  // namespace detail

/// The schema of `Options`, from its `static void describe(auto& field)`, which calls field(name,
/// &Options::member, doc).
template <class Options>
const OptionsSchema& schema_of() {
  static const OptionsSchema& schema = *[] {
    auto* s = new OptionsSchema;
    const Options defaults{};
    auto add = [&](const char* name, auto member, const char* documentation) {
      const auto& value = defaults.*member;
      s->fields.push_back(detail::option_field(
          name, documentation, value,
          reinterpret_cast<const char*>(&value) - reinterpret_cast<const char*>(&defaults)));
    };
    Options::describe(add);
    s->make = [s](const std::map<std::string, OptionValue>& values) {
      Options options{};
      for (auto& [name, value] : values) s->field(name).set(&options, value);
      return Attributes::of(std::move(options));
    };
    return s;
  }();
  return schema;
}

}  // namespace treadle
