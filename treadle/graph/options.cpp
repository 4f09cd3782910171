#include "treadle/graph/options.h"

#include <fmt/ranges.h>

#include "treadle/core/error.h"

namespace treadle {

std::string to_string(const OptionValue& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

namespace {

OptionValue to_value(bool v) { return v; }
OptionValue to_value(int64_t v) { return v; }
OptionValue to_value(double v) { return v; }
OptionValue to_value(const std::string& v) { return v; }
OptionValue to_value(DType v) { return std::string(name_of(v)); }
OptionValue to_value(Pair v) { return std::vector<int64_t>{v.height, v.width}; }
OptionValue to_value(Pads v) { return std::vector<int64_t>{v.top, v.left, v.bottom, v.right}; }
OptionValue to_value(const std::vector<int64_t>& v) { return v; }
OptionValue to_value(const Dims& v) { return std::vector<int64_t>(v.begin(), v.end()); }

template <class T>
const T& expect(const OptionValue& value, const char* kind) {
  const T* held = std::get_if<T>(&value);
  require<ValueError>(held != nullptr, "the value {} is not {}", to_string(value), kind);
  return *held;
}

/// A list of 1 or `count` numbers; one number stands for all.
std::vector<int64_t> expect_list(const OptionValue& value, size_t count) {
  if (auto* number = std::get_if<int64_t>(&value)) return std::vector<int64_t>(count, *number);
  auto list = expect<std::vector<int64_t>>(value, "a list of integers");
  if (list.size() == 1) return std::vector<int64_t>(count, list[0]);
  require<ValueError>(list.size() == count, "the value {} does not have {} entries", to_string(value), count);
  return list;
}

void from_value(const OptionValue& value, bool& field) { field = expect<bool>(value, "true or false"); }
void from_value(const OptionValue& value, int64_t& field) { field = expect<int64_t>(value, "an integer"); }
void from_value(const OptionValue& value, double& field) {
  auto* integer = std::get_if<int64_t>(&value);
  field = integer ? double(*integer) : expect<double>(value, "a number");
}
void from_value(const OptionValue& value, std::string& field) {
  field = expect<std::string>(value, "a string");
}
void from_value(const OptionValue& value, DType& field) {
  field = dtype_named(expect<std::string>(value, "a dtype"));
}
void from_value(const OptionValue& value, Pair& field) {
  auto list = expect_list(value, 2);
  field = Pair(list[0], list[1]);
}
void from_value(const OptionValue& value, Pads& field) {
  auto* list = std::get_if<std::vector<int64_t>>(&value);
  if (list && list->size() == 2) {
    field = Pads(Pair((*list)[0], (*list)[1]));
  } else {
    auto four = expect_list(value, 4);
    field = Pads(four[0], four[1], four[2], four[3]);
  }
}
void from_value(const OptionValue& value, std::vector<int64_t>& field) {
  field = expect<std::vector<int64_t>>(value, "a list of integers");
}
void from_value(const OptionValue& value, Dims& field) {
  field = {};
  for (int64_t entry : expect<std::vector<int64_t>>(value, "a list of integers")) field.push_back(entry);
}

}  // namespace

template <class Field>
OptionField detail::option_field(const char* name, const char* documentation, const Field& default_value,
                                 ptrdiff_t offset) {
  auto get = [offset](const void* options) {
    return to_value(*reinterpret_cast<const Field*>(static_cast<const char*>(options) + offset));
  };
  auto set = [offset](void* options, const OptionValue& value) {
    from_value(value, *reinterpret_cast<Field*>(static_cast<char*>(options) + offset));
  };
  return {name, documentation, to_value(default_value), get, set};
}

/// Of the types that an option may have.
#define TREADLE_OPTION_TYPE(Field) \
  template TREADLE_API OptionField detail::option_field(const char*, const char*, const Field&, ptrdiff_t);
TREADLE_OPTION_TYPE(bool)
TREADLE_OPTION_TYPE(int64_t)
TREADLE_OPTION_TYPE(double)
TREADLE_OPTION_TYPE(std::string)
TREADLE_OPTION_TYPE(DType)
TREADLE_OPTION_TYPE(Pair)
TREADLE_OPTION_TYPE(Pads)
TREADLE_OPTION_TYPE(Dims)
TREADLE_OPTION_TYPE(std::vector<int64_t>)
#undef TREADLE_OPTION_TYPE

std::string OptionsSchema::describe(const Attributes& attributes) const {
  std::string text;
  if (!attributes) return text;
  for (auto& f : fields)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", f.name, to_string(f.get(attributes.data())));
  return text;
}

const OptionField& OptionsSchema::field(const std::string& name) const {
  for (auto& f : fields)
    if (f.name == name) return f;
  std::string known;
  for (auto& f : fields) known += " " + f.name;
  throw ValueError(fmt::format("no option is called '{}'; known are{}", name, known));
}

}  // namespace treadle
