#include "python/bindings/options.h"

#include <fmt/core.h>

namespace treadle::python {
namespace {

[[noreturn]] void refuse(const OptionField& field, nb::handle value, const char* wanted) {
  throw nb::type_error(
      fmt::format("{} is a {}, not {}", field.name, nb::type_name(value.type()).c_str(), wanted).c_str());
}

/// Reads the value as each kind that options have.
struct Reader {
  const OptionField& field;
  nb::handle value;

  OptionValue operator()(bool) const {
    if (!PyBool_Check(value.ptr())) refuse(field, value, "True or False");
    return value.ptr() == Py_True;
  }
  OptionValue operator()(int64_t) const {
    Scalar number = 0;
    if (PyBool_Check(value.ptr()) || !PyIndex_Check(value.ptr()) || !read_scalar(value, number))
      refuse(field, value, "a whole number");
    return nb::cast<int64_t>(nb::int_(value));
  }
  OptionValue operator()(double) const {
    Scalar number = 0;
    if (PyBool_Check(value.ptr()) || !read_scalar(value, number)) refuse(field, value, "a number");
    return nb::cast<double>(nb::float_(value));
  }
  OptionValue operator()(const std::string&) const {
    if (!PyUnicode_Check(value.ptr())) refuse(field, value, "a text");
    return nb::cast<std::string>(value);
  }
  OptionValue operator()(const std::vector<int64_t>&) const {
    std::vector<int64_t> numbers;
    if (PyUnicode_Check(value.ptr()) || !nb::try_cast(value, numbers)) refuse(field, value, "whole numbers");
    return numbers;
  }
};

nb::object option_object(const OptionValue& value) {
  return std::visit([](const auto& one) -> nb::object { return nb::cast(one); }, value);
}

}  // namespace

std::map<std::string, OptionValue> option_values(const OptionsSchema& schema, const nb::dict& given) {
  std::map<std::string, OptionValue> values;
  for (auto [key, value] : given) {
    const std::string name = nb::cast<std::string>(key);
    const OptionField& field = schema.field(name);
    values[name] = std::visit(Reader{field, value}, field.default_value);
  }
  return values;
}

nb::list described_options(const OptionsSchema& schema, const Attributes& options) {
  nb::list described;
  for (const OptionField& field : schema.fields)
    described.append(
        nb::make_tuple(field.name, option_object(field.get(options.data())), field.documentation));
  return described;
}

}  // namespace treadle::python
