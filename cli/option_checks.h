/// What the values of options must be: short sentences, and names
/// with the one that was probably meant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/option.h"

namespace treadle::cli {

/// Bound of counts on the command line: products of two fit in int64.
inline constexpr uint64_t kMostCounted = uint64_t(1) << 30;

/// Decimal digits for a number from `least` to `most`.
OptionCheck whole_number(uint64_t least, uint64_t most = kMostCounted);
/// Any number that fits into 64 bits without a sign: seeds.
OptionCheck seed_number();
/// A finite number with a decimal point, of `least` or more.
OptionCheck number_from(double least);
OptionCheck number_between(double least, double most);
/// A finite number above 0.
OptionCheck positive_number();
/// Of a text that one of these accepts.
double number_in(const std::string& text);
/// Nothing, or what the other takes.
OptionCheck or_nothing(OptionCheck check);
/// "auto", or what the other takes.
OptionCheck automatic_or(OptionCheck check);
/// One of `names`; the message suggests the nearest.
OptionCheck one_of(std::vector<std::string> names);

}  // namespace treadle::cli
