#include "treadle/simt/driver/registers.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "treadle/core/split.h"
#include "treadle/simt/check/symbolizer.h"
#include "treadle/simt/driver/process.h"
#include "treadle/simt/function_names.h"

namespace treadle::simt::driver {
namespace {

/// "scale<float>" of "_Z5scaleIfEvPT_".
std::string kernel_of(const std::string& symbol) { return without_parameters(demangled(symbol.c_str())); }

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

std::string base_of(const std::string& kernel) {
  const std::string name = kernel.substr(0, kernel.find('<'));
  const size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

std::string nvcc() {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':'))
    if (access((folder + "/nvcc").c_str(), X_OK) == 0) return folder + "/nvcc";
  const std::string usual = "/usr/local/cuda/bin/nvcc";
  require<BuildError>(access(usual.c_str(), X_OK) == 0, "registers: there is no nvcc in PATH, nor is {}",
                      usual);
  return usual;
}

}  // namespace

unsigned Registers::of(const std::string& kernel) const {
  unsigned of_name = of_all_;
  for (const auto& [known, count] : by_kernel_) {
    if (without_spaces(known) == without_spaces(kernel)) return count;
    if (base_of(known) == base_of(kernel)) of_name = std::max(of_name, count);
  }
  return of_name;
}

Registers registers_in(const std::string& messages) {
  constexpr std::string_view kEntry = "Compiling entry function '", kUsed = "Used ";
  Registers result;
  std::string kernel;
  for (const std::string& line : split(messages, '\n')) {
    if (const size_t begin = line.find(kEntry); begin != std::string::npos) {
      const size_t name = begin + kEntry.size();
      kernel = kernel_of(line.substr(name, line.find('\'', name) - name));
    } else if (const size_t used = line.find(kUsed); used != std::string::npos && !kernel.empty()) {
      result.add(kernel, static_cast<unsigned>(std::strtoul(&line[used + kUsed.size()], nullptr, 10)));
      kernel.clear();
    }
  }
  return result;
}

Registers registers_by_nvcc(const BuildOptions& options, unsigned architecture) {
  const TemporaryFolder folder;
  std::string messages;
  for (const std::string& source : options.sources) {
    if (!source.ends_with(".cu")) continue;
    std::vector<std::string> words{nvcc(), "-c",  "-Xptxas",
                                   "-v",   "-O3", fmt::format("-arch=sm_{}", architecture)};
    if (!options.standard.empty()) words.push_back("-std=" + options.standard);
    for (const std::string& definition : options.definitions) words.push_back("-D" + definition);
    for (const std::string& include : options.include_folders) words.push_back("-I" + include);
    for (const std::string& word : {source, std::string("-o"), folder / "unused.o"}) words.push_back(word);
    const std::string said = folder / "messages.txt";
    const int code = run({.words = words, .messages = said}).code;
    require<BuildError>(code == 0, "registers: nvcc does not take {}: {}", source, read_file(said));
    messages += read_file(said);
  }
  return registers_in(messages);
}

}  // namespace treadle::simt::driver
