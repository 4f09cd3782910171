#include "treadle/data/augmentations.h"

#include <algorithm>
#include <charconv>

#include "treadle/core/nearest_name.h"
#include "treadle/core/split.h"

namespace treadle {

namespace augmentations {
std::vector<AugmentationKind> all();  // generated from the headers of augment/
}

const std::vector<AugmentationKind>& known_augmentation_kinds() {
  static const std::vector<AugmentationKind> kinds = [] {
    auto all = augmentations::all();
    std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.name < b.name; });
    return all;
  }();
  return kinds;
}

std::vector<std::string> known_augmentations() {
  std::vector<std::string> names;
  for (const AugmentationKind& kind : known_augmentation_kinds()) names.push_back(kind.name);
  return names;
}

namespace {

const AugmentationKind& kind_named(const std::string& name) {
  for (const AugmentationKind& kind : known_augmentation_kinds())
    if (kind.name == name) return kind;
  throw ValueError(unknown_name("no augmentation is called", name, known_augmentations()));
}

std::vector<std::string> option_names(const AugmentationKind& kind) {
  std::vector<std::string> names;
  for (const OptionField& field : kind.options->fields) names.push_back(field.name);
  return names;
}

/// The number that all of the text is, of the option's type.
OptionValue number_for(const AugmentationKind& kind, const OptionField& field, const std::string& text) {
  auto parse = [&](auto number, const char* wanted) -> OptionValue {
    const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    require<ValueError>(code == std::errc() && rest == text.data() + text.size(), "{}: {} is '{}', not {}",
                        kind.name, field.name, text, wanted);
    return number;
  };
  if (std::holds_alternative<int64_t>(field.default_value)) return parse(int64_t(0), "a whole number");
  return parse(double(0), "a number");
}

const OptionField& field_at(const AugmentationKind& kind, size_t place) {
  const auto& fields = kind.options->fields;
  require<ValueError>(place < fields.size(), "{} takes at most {} values ({}), not {}", kind.name,
                      fields.size(), joined_names(option_names(kind)), place + 1);
  return fields[place];
}

const OptionField& field_named(const AugmentationKind& kind, const std::string& name) {
  for (const OptionField& field : kind.options->fields)
    if (field.name == name) return field;
  throw ValueError(unknown_name(kind.name + " has no option called", name, option_names(kind)));
}

/// "rotate:10" and "jitter:0.2:saturation=0.4".
Augmentations::Step step_in(const std::string& text) {
  const std::vector<std::string> words = split(text, ':');
  const AugmentationKind& kind = kind_named(words[0]);
  std::map<std::string, OptionValue> options;
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const bool named = equals != std::string::npos;
    const OptionField& field = named ? field_named(kind, words[i].substr(0, equals)) : field_at(kind, i - 1);
    const std::string value = named ? words[i].substr(equals + 1) : words[i];
    require<ValueError>(options.emplace(field.name, number_for(kind, field, value)).second,
                        "{} is given {} twice", kind.name, field.name);
  }
  return {&kind, kind.options->make(options)};
}

const char* name_of(Augmentable examples) {
  return examples == Augmentable::images ? "images" : "examples of shape [C, H, W]";
}

}  // namespace

const AugmentationKind& Augmentations::kind_of(const std::type_info& type) {
  for (const AugmentationKind& kind : known_augmentation_kinds())
    if (*kind.type == type) return kind;
  throw ValueError(fmt::format("no kind of augmentation has the options {}", type.name()));
}

void Augmentations::add(const AugmentationKind& kind, Attributes options) {
  try {
    kind.check(options);
  } catch (const ValueError& error) {
    throw ValueError(fmt::format("{}: {}", kind.name, error.what()));
  }
  steps_.push_back({&kind, std::move(options)});
}

Augmentations Augmentations::parse(std::string_view text) {
  Augmentations list;
  if (text.empty()) return list;
  for (const std::string& part : split(text, ',')) {
    Step step = step_in(part);
    list.add(*step.kind, std::move(step.options));
  }
  return list;
}

bool Augmentations::mixes() const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [](const Step& step) { return step.kind->mix != nullptr; });
}

void Augmentations::require_fit(const Shape& example, bool are_images) const {
  for (const Step& step : steps_) {
    const Augmentable takes = step.kind->takes;
    const bool fits = takes == Augmentable::anything ||
                      (example.rank() == 3 && (takes == Augmentable::planes || are_images));
    require<ValueError>(fits, "the augmentation {} is for {}; the data set has {} of shape {}",
                        step.kind->name, name_of(takes), are_images ? "images" : "numbers", example);
  }
}

}  // namespace treadle
