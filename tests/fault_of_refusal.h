#pragma once

#include <functional>
#include <string>
#include <typeinfo>
#include <vector>

namespace treadle {

/// What is wrong with how `call` ends, which is to throw exactly `type` with all of `says` in its message;
/// empty where it does.
inline std::string fault_of_refusal(const std::function<void()>& call, const std::type_info& type,
                                    const std::vector<std::string>& says) {
  try {
    call();
  } catch (const std::exception& error) {
    const std::string message = error.what();
    if (typeid(error) != type)
      return std::string("throws ") + typeid(error).name() + ", not " + type.name() + ": " + message;
    for (const std::string& part : says)
      if (message.find(part) == std::string::npos) return "does not say '" + part + "' but: " + message;
    return "";
  }
  return "is not refused";
}

}  // namespace treadle
