#include "cli/option.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "treadle/core/error.h"

namespace treadle::cli {
namespace {

std::string text_of(const std::string& value) { return value; }

template <class Value>
std::string text_of(const Value& value) {
  return fmt::format("{}", value);
}

std::string text_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string text_of(const std::vector<int64_t>& numbers) {
  std::string text;
  for (int64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

template <class Number>
void read(const std::string& text, Number& value) {
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  require<ValueError>(error == std::errc() && stop == end && std::isfinite(double(value)),
                      "'{}' is not a number", text);
}

void read(const std::string& text, bool& value) {
  require<ValueError>(text == "true" || text == "false", "'{}' is neither true nor false", text);
  value = text == "true";
}

void read(const std::string& text, std::string& value) { value = text; }

/// Calls take(part) for what lies between the separators.
template <class Take>
void split(const std::string& text, char separator, Take take) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(separator, begin), text.size());
    take(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

void read(const std::string& text, std::vector<std::string>& words) {
  words.clear();
  split(text, ' ', [&](const std::string& word) { words.push_back(word); });
}

void read(const std::string& text, std::vector<int64_t>& numbers) {
  numbers.clear();
  split(text, ',', [&](const std::string& number) { read(number, numbers.emplace_back()); });
}

}  // namespace

std::string ProgramOption::on_command_line() const {
  if (!traits.on_command_line.empty()) return traits.on_command_line;
  std::string option = "--" + name;
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

std::string ProgramOption::text() const {
  return std::visit([](const auto* value) { return text_of(*value); }, target);
}

void ProgramOption::set(std::string text) const {
  const bool checked = traits.check.fault && text != default_text;
  std::string fault = checked ? traits.check.fault(text) : "";
  require<ValueError>(fault.empty(), "{}", fault);
  std::visit([&](auto* value) { read(text, *value); }, target);
}

}  // namespace treadle::cli
