/// Tables of calls that must be refused: by which exception, and with what in its message.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <typeinfo>
#include <vector>

#include "tests/fault_of_refusal.h"

namespace treadle {

struct Refused {
  std::string label;
  std::function<void()> call;
  const std::type_info& type;
  std::vector<std::string> says;
};

/// A row: `call` throws exactly E, and the message names all of `says`.
template <class E>
Refused refused(std::string label, std::vector<std::string> says, std::function<void()> call) {
  return {std::move(label), std::move(call), typeid(E), std::move(says)};
}

inline void expect_refused(const std::vector<Refused>& table) {
  for (const Refused& row : table) EXPECT_EQ(fault_of_refusal(row.call, row.type, row.says), "") << row.label;
}

}  // namespace treadle
