/// What the values of options must be: short sentences where CLI11 prints ranges of 300 digits, and names
/// with the one that was probably meant.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace treadle::cli {

/// Bound of counts on the command line: products of two fit in int64.
inline constexpr uint64_t kMostCounted = uint64_t(1) << 30;

/// Decimal digits for a number from `least` to `most`.
CLI::Validator whole_number(uint64_t least, uint64_t most = kMostCounted);
/// Any number that fits into 64 bits without a sign: seeds.
CLI::Validator seed_number();
/// A finite number with a decimal point, of `least` or more.
CLI::Validator number_from(double least);
CLI::Validator number_between(double least, double most);
/// A finite number above 0.
CLI::Validator positive_number();
/// One of `names`; the message suggests the nearest.
CLI::Validator one_of(std::vector<std::string> names);

}  // namespace treadle::cli
