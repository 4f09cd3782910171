/// The files that hold goldens, and tensors against what they record.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/folders.h"
#include "tests/goldens/golden_numbers.h"
#include "treadle/graph/options.h"

namespace treadle::goldens {

using Json = nlohmann::json;

/// tests/goldens/PATH.json, kept: of a temporary, a loop over a part would outlive the whole.
inline const Json& contents(const std::string& path) {
  static std::map<std::string, Json> kept;
  Json& file = kept[path];
  if (file.is_null())
    file = Json::parse(std::ifstream(TREADLE_SOURCE_DIR "/tests/goldens/" + path + ".json"));
  return file;
}

/// What the files of a folder are called, without ".json".
inline std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (auto& entry : std::filesystem::directory_iterator(TREADLE_SOURCE_DIR "/tests/goldens/" + folder))
    names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

inline OptionValue option_value(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  return value.get<std::vector<int64_t>>();
}

/// The options that a record names, the others as by default.
inline Attributes options_of(const OptionsSchema& schema, const Json& record) {
  std::map<std::string, OptionValue> chosen;
  for (auto& [name, value] : record.at("options").items()) chosen[name] = option_value(value);
  return schema.make(chosen);
}

/// The value computed in f64.
inline double exact(const Json& value, const Json& deviation) {
  return value.get<double>() - deviation.get<double>();
}

/// Shape, norm and projections, which may be off by `allowed` of the norm that was recorded.
template <class Allowed>
void expect_measures_within(const Tensor& tensor, const Json& record, Allowed allowed_of,
                            const std::string& what) {
  ASSERT_TRUE(tensor.defined()) << what;
  EXPECT_EQ(std::vector<int64_t>(tensor.shape().begin(), tensor.shape().end()), record["shape"]) << what;
  const auto found = measures(tensor);
  const double norm = exact(record["norm"], record["norm_deviation"]), allowed = allowed_of(norm);
  EXPECT_NEAR(found[0], norm, allowed) << what << ": norm";
  for (size_t k = 0; k < 4; ++k)
    EXPECT_NEAR(found[k + 1], exact(record["projections"][k], record["projection_deviations"][k]), allowed)
        << what << ": projection " << k;
}

/// Within what `terms` roundings allow.
inline void expect_measures(const Tensor& tensor, const Json& record, double terms, const std::string& what) {
  expect_measures_within(
      tensor, record, [&](double norm) { return tolerance(terms, norm); }, what);
}

/// The same of a tensor in f64 against what was recorded in f64: within 2^-29 of what `terms` roundings allow
/// in f32, and no less than the sums of the measures themselves round.
inline void expect_measures_in_f64(const Tensor& tensor, const Json& record, double terms,
                                   const std::string& what) {
  auto allowed = [&](double norm) { return tolerance(terms, norm + 1) * 0x1p-29 + 0x1p-44 * norm; };
  expect_measures_within(tensor, record, allowed, what);
}

}  // namespace treadle::goldens
