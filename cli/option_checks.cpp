#include "cli/option_checks.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "treadle/core/nearest_name.h"

namespace treadle::cli {
namespace {

/// The number that all of the text is, whatever the locale; nothing when it is not one.
template <class Number>
std::optional<Number> parsed(const std::string& text) {
  Number value{};
  const char *begin = text.data(), *end = begin + text.size();
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') ++begin;
  auto [rest, code] = std::from_chars(begin, end, value);
  if (code != std::errc() || rest != end) return std::nullopt;
  return value;
}

template <class Accept>
OptionCheck number_that(Accept accept, const std::string& wanted, const std::string& shown) {
  return {[accept, wanted](std::string& text) {
            auto value = parsed<double>(text);
            if (value && std::isfinite(*value) && accept(*value)) return std::string();
            return fmt::format("'{}' is not {}", text, wanted);
          },
          shown};
}

}  // namespace

/// The digits are written back: on the command line a leading 0 would be read as octal.
OptionCheck whole_number(uint64_t least, uint64_t most) {
  std::string wanted = most == kMostCounted ? fmt::format("a whole number of {} or more", least)
                                            : fmt::format("a whole number from {} to {}", least, most);
  return {[=](std::string& text) {
            auto value = parsed<uint64_t>(text);
            if (value && *value > most && most == kMostCounted)
              return fmt::format("{} is too large; at most {} is possible", text, most);
            if (!value || *value < least || *value > most) return fmt::format("'{}' is not {}", text, wanted);
            text = std::to_string(*value);
            return std::string();
          },
          most == kMostCounted ? "" : fmt::format("{} to {}", least, most)};
}

OptionCheck seed_number() {
  OptionCheck check = whole_number(0, std::numeric_limits<uint64_t>::max());
  check.shown = "";
  return check;
}

OptionCheck number_from(double least) {
  return number_that([least](double value) { return value >= least; },
                     fmt::format("a number of {} or more", least), "");
}

OptionCheck number_between(double least, double most) {
  return number_that([=](double value) { return value >= least && value <= most; },
                     fmt::format("a number from {} to {}", least, most),
                     fmt::format("{} to {}", least, most));
}

OptionCheck positive_number() {
  return number_that([](double value) { return value > 0; }, "a number above 0", "");
}

double number_in(const std::string& text) { return parsed<double>(text).value(); }

OptionCheck or_nothing(OptionCheck check) {
  check.fault = [fault = std::move(check.fault)](std::string& text) {
    return text.empty() ? std::string() : fault(text);
  };
  return check;
}

OptionCheck automatic_or(OptionCheck check) {
  check.fault = [fault = std::move(check.fault)](std::string& text) {
    return text == "auto" ? std::string() : fault(text);
  };
  check.shown = "auto or " + check.shown;
  return check;
}

OptionCheck one_of(std::vector<std::string> names) {
  std::string shown = "{" + joined_names(names) + "}";
  return {[names = std::move(names)](std::string& text) {
            for (const std::string& name : names)
              if (name == text) return std::string();
            return unknown_name("there is no", text, names);
          },
          shown};
}

}  // namespace treadle::cli
