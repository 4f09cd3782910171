#include "treadle/simt/driver/build.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <future>

#include "treadle/simt/driver/compile.h"
#include "treadle/simt/driver/dynamic_shared.h"
#include "treadle/simt/driver/home.h"
#include "treadle/simt/driver/process.h"

namespace treadle::simt::driver {
namespace {

bool is_linked_as_it_is(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  return extension == ".o" || extension == ".a" || extension == ".so";
}

/// Compiles all sources at once, and returns the files to link, in their order.
std::vector<std::string> compile_all(const BuildOptions& options, const Home& home,
                                     const TemporaryFolder& folder) {
  std::vector<std::string> files;
  std::vector<std::future<CompilationResult>> results;
  for (const std::string& source : options.sources) {
    require<FileError>(std::filesystem::is_regular_file(source), "{}: there is no such file", source);
    if (is_linked_as_it_is(source)) {
      files.push_back(source);
      continue;
    }
    const std::string stem =
        folder / fmt::format("{}-{}", files.size(), std::filesystem::path(source).stem().string());
    files.push_back(stem + ".o");
    results.push_back(std::async(std::launch::async, compile, std::cref(options), std::cref(home),
                                 Compilation{source, stem + ".o", stem}));
  }
  bool failed = false;
  for (auto& result : results) {
    const CompilationResult one = result.get();
    fmt::print(stderr, "{}", one.messages);
    failed |= one.failed;
  }
  require<BuildError>(!failed, "the program was not built: the compiler's messages are above");
  return files;
}

/// The compilers' own files, one after another.
void write_dependencies(const BuildOptions& options, const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files) {
    const std::filesystem::path own = std::filesystem::path(file).replace_extension(".d");
    if (file.ends_with(".o") && exists(own)) text += read_file(own.string());
  }
  write_file(options.dependencies, text);
}

void link(const BuildOptions& options, const Home& home, const std::vector<std::string>& files,
          const TemporaryFolder& folder) {
  std::vector<std::string> objects = files;
  std::erase_if(objects, [](const std::string& file) { return !file.ends_with(".o"); });
  const std::string area = folder / "dynamic_shared.s";
  write_file(area, dynamic_shared_assembly(objects));
  std::vector<std::string> words = compiler_words(options);
  const auto add = [&](const std::string& word) { words.push_back(word); };
  for (const char* word : {"-no-pie", "-pthread", "-o"}) add(word);
  add(options.program);
  for (const std::string& file : files) add(file);
  add(area);
  const char* library = options.checked    ? "libtreadle_simt_checked.a"
                        : options.profiled ? "libtreadle_simt_profiled.a"
                                           : "libtreadle_simt.a";
  add((home.libraries / library).string());
  for (const std::string& library_folder : options.library_folders) add("-L" + library_folder);
  for (const std::string& library : options.libraries) add("-l" + library);
  require<BuildError>(run({.words = words}).code == 0,
                      "the program was not built: the linker's messages are above");
}

}  // namespace

bool is_program(const std::string& file) {
  constexpr std::string_view kInputs[] = {".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".o", ".a", ".so"};
  const std::string extension = std::filesystem::path(file).extension().string();
  return std::find(std::begin(kInputs), std::end(kInputs), extension) == std::end(kInputs) &&
         std::filesystem::is_regular_file(file) && access(file.c_str(), X_OK) == 0;
}

void build(const BuildOptions& options) {
  require<ValueError>(!options.sources.empty(), "no source is given");
  const Home home = find_home();
  const TemporaryFolder folder;
  const std::vector<std::string> files = compile_all(options, home, folder);
  link(options, home, files, folder);
  if (!options.dependencies.empty()) write_dependencies(options, files);
}

}  // namespace treadle::simt::driver
