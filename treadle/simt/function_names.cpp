#include "treadle/simt/function_names.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace treadle::simt {

std::string without_parameters(const std::string& function) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  int angles = 0;
  size_t begin = 0;  // behind the type of the result, which templates' names begin with: "void name<…>"
  for (size_t i = 0; i < function.size(); ++i) {
    if (function.compare(i, kUnnamed.size(), kUnnamed) == 0) {
      i += kUnnamed.size() - 1;
    } else if (function[i] == '<') {
      ++angles;
    } else if (function[i] == '>') {
      --angles;
    } else if (angles == 0 && function[i] == ' ') {
      begin = i + 1;
    } else if (angles == 0 && function[i] == '(') {
      return function.substr(begin, i - begin);
    }
  }
  return function;
}

std::string demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  return text == nullptr ? symbol : text.get();
}

}  // namespace treadle::simt
