/// Options described once: name, type, default and one line each, read by the CLI, printing, ONNX and the
/// docs.
#pragma once

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

/// Conversions between a field and an OptionValue; from_value throws ValueError when the kind does not fit.
namespace option_conversion {
inline OptionValue to_value(bool v) { return v; }
inline OptionValue to_value(int64_t v) { return v; }
inline OptionValue to_value(double v) { return v; }
inline OptionValue to_value(const std::string& v) { return v; }
inline OptionValue to_value(DType v) { return std::string(name_of(v)); }
inline OptionValue to_value(Pair v) { return std::vector<int64_t>{v.height, v.width}; }
inline OptionValue to_value(Pads v) { return std::vector<int64_t>{v.top, v.left, v.bottom, v.right}; }
inline OptionValue to_value(const Dims& v) { return std::vector<int64_t>(v.begin(), v.end()); }
TREADLE_API void from_value(const OptionValue& value, bool& field);
TREADLE_API void from_value(const OptionValue& value, int64_t& field);
TREADLE_API void from_value(const OptionValue& value, double& field);
TREADLE_API void from_value(const OptionValue& value, std::string& field);
TREADLE_API void from_value(const OptionValue& value, DType& field);
TREADLE_API void from_value(const OptionValue& value, Pair& field);
TREADLE_API void from_value(const OptionValue& value, Pads& field);
TREADLE_API void from_value(const OptionValue& value, Dims& field);
}  // namespace option_conversion

/// One field of an options struct.
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

/// The schema of `Options`, from its `static void describe(auto& field)`, which calls field(name,
/// &Options::member, doc).
template <class Options>
const OptionsSchema& schema_of() {
  static const OptionsSchema& schema = *[] {
    auto* s = new OptionsSchema;
    const Options defaults{};
    auto add = [&](const char* name, auto member, const char* documentation) {
      s->fields.push_back({name, documentation, option_conversion::to_value(defaults.*member),
                           [member](const void* o) {
                             return option_conversion::to_value(static_cast<const Options*>(o)->*member);
                           },
                           [member](void* o, const OptionValue& value) {
                             option_conversion::from_value(value, static_cast<Options*>(o)->*member);
                           }});
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
