#include "treadle/simt/driver/compile.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "treadle/core/split.h"
#include "treadle/simt/driver/block_order.h"
#include "treadle/simt/driver/joined_accesses.h"
#include "treadle/simt/driver/process.h"
#include "treadle/simt/driver/red_zones.h"
#include "treadle/simt/driver/refused_headers.h"
#include "treadle/simt/driver/translate.h"

namespace treadle::simt::driver {
namespace {

using Words = std::vector<std::string>;

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

/// The standard that was asked for, where the executor's headers can be read in it.
std::string standard_of(const BuildOptions& options) {
  const std::string& standard = options.standard;
  const bool new_enough = standard.ends_with("20") || standard.ends_with("23") || standard.ends_with("2a") ||
                          standard.ends_with("2b");
  return new_enough ? standard : "gnu++20";
}

/// Whether the executor tells what happens, and the compiler's calls do.
bool has_hooks(const BuildOptions& options) { return options.checked || options.profiled; }

/// What decides how the source is read.
Words language_words(const BuildOptions& options) {
  Words words{"-std=" + standard_of(options), "-DTREADLE_SIMT_PROGRAM"};
  if (has_hooks(options)) words.emplace_back("-DTREADLE_SIMT_CHECK");
  return words;
}

Words preprocessor_words(const BuildOptions& options, const Home& home) {
  Words words;
  for (const std::string& definition : options.definitions) words.push_back("-D" + definition);
  words.push_back("-I" + (home.headers / "treadle/simt/toolkit/include").string());
  for (const std::string& folder : options.include_folders) words.push_back("-I" + folder);
  append(words, {"-idirafter", home.headers.string()});
  return words;
}

/// What decides how the object's code is made. Programs are not moved in memory: thread-local variables,
/// which shared memory is, are then reached without a call, and `extern` ones are never made by a
/// constructor.
Words code_words(const BuildOptions& options) {
  Words words{"-fno-pie",           "-fno-extern-tls-init", "-fno-math-errno",
              "-fno-trapping-math", "-Wno-narrowing",       "-pthread"};
  words.push_back("-O" + (!options.optimization.empty() ? options.optimization
                          : has_hooks(options)          ? "1"
                                                        : "3"));
  if (has_hooks(options)) {
    append(words, {"-g", "-gdwarf-4"});
    append(words, split(options.checked ? TREADLE_CHECKED_OPTIONS : TREADLE_PROFILED_OPTIONS, ' '));
  } else if (options.debug) {
    words.emplace_back("-g");
  }
  return words;
}

enum class Language { cuda, cpp, c };

Language language_of(const std::string& source) {
  const std::string extension = std::filesystem::path(source).extension().string();
  return extension == ".c"                           ? Language::c
         : extension == ".cu" || extension == ".cuh" ? Language::cuda
                                                     : Language::cpp;
}

}  // namespace

Words compiler_words(const BuildOptions& options) {
  const char* variable = std::getenv("CXX");
  Words words{!options.compiler.empty()                  ? options.compiler
              : variable != nullptr && *variable != '\0' ? variable
                                                         : "g++"};
  if (isatty(STDERR_FILENO)) words.emplace_back("-fdiagnostics-color=always");
  return words;
}

CompilationResult compile(const BuildOptions& options, const Home& home, const Compilation& compilation) {
  const Language language = language_of(compilation.source);
  const std::string messages = compilation.folder_stem + ".txt";
  Words words = compiler_words(options);
  const auto run_with = [&](const Words& more, const std::string& output) {
    Words all = words;
    append(all, more);
    const int code = run({.words = all, .output = output, .messages = messages}).code;
    return CompilationResult{read_file(messages), code != 0};
  };
  Words preprocessing = language == Language::c ? Words{"-x", "c"} : language_words(options);
  append(preprocessing, preprocessor_words(options, home));
  append(preprocessing, code_words(options));  // they define macros
  append(preprocessing, {"-MMD", "-MT", options.program, "-MF", compilation.folder_stem + ".d"});
  if (language == Language::c) {
    append(preprocessing, {"-c", compilation.source, "-o", compilation.object});
    return run_with(preprocessing, "");
  }
  if (language == Language::cuda) append(preprocessing, {"-include", "treadle/simt/program.h"});
  append(preprocessing, {"-E", "-fworking-directory", "-x", "c++", compilation.source});
  const std::string preprocessed = compilation.folder_stem + ".preprocessed";
  CompilationResult first = run_with(preprocessing, preprocessed);
  if (first.failed) {
    refuse_missing_libraries(first.messages);
    return first;
  }
  const std::string text = read_file(preprocessed);
  refuse_included_libraries(text);
  const std::string translated = compilation.folder_stem + ".ii";
  write_file(translated, translate(text, has_hooks(options) ? "checked" : "simt"));
  Words compiling = language_words(options);
  append(compiling, code_words(options));
  const std::string assembly = compilation.folder_stem + ".s";
  append(compiling, {has_hooks(options) ? "-S" : "-c", "-x", "c++-cpp-output", translated, "-o"});
  compiling.push_back(has_hooks(options) ? assembly : compilation.object);
  CompilationResult second = run_with(compiling, "");
  second.messages = first.messages + second.messages;
  if (second.failed || !has_hooks(options)) return second;

  const std::string code = read_file(assembly);
  write_file(assembly, options.checked ? with_red_zones(code) : with_block_order(with_joined_accesses(code)));
  const CompilationResult third = run_with({"-c", assembly, "-o", compilation.object}, "");
  return {second.messages + third.messages, third.failed};
}

}  // namespace treadle::simt::driver
