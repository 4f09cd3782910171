// A debugger can stop in one CUDA thread: threadIdx and blockIdx are variables. The program must have been
// started when the condition is set, since gdb drops conditions on thread-local variables when it relocates
// the program.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/simt/kernels.h"
#include "tests/simt/settings.h"

namespace treadle::simt {
namespace {

TEST(Debugger, Kernel) {
  const ScopedSettings settings(1);
  std::vector<int> out(16, -1);
  debugged(nullptr, out.data());
  for (int i = 0; i < 16; ++i) EXPECT_EQ(out[i], i);
}

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer;
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), count);
  pclose(pipe);
  return output;
}

std::string own_path() {
  std::array<char, 4096> path;
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<size_t>(length)) : std::string();
}

TEST(Debugger, BreakpointStopsInOneThread) {
  if (std::system("gdb --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "gdb is not installed";
  const std::string output = output_of(
      "gdb -nx -batch -ex 'set debuginfod enabled off' -ex start "
      "-ex 'break debugged.cu:10 if threadIdx.x == 3 && blockIdx.x == 1' "
      "-ex continue -ex 'print threadIdx.x + 100 * blockIdx.x + 10000 * blockDim.x' --args '" +
      own_path() + "' --gtest_filter=Debugger.Kernel 2>&1 </dev/null");
  if (output.find("No symbol table") != std::string::npos ||
      output.find("No source file named") != std::string::npos)
    GTEST_SKIP() << "the tests were built without debug information";
  if (output.find("ptrace") != std::string::npos) GTEST_SKIP() << "the system forbids tracing";
  EXPECT_NE(output.find("= 80103"), std::string::npos) << output;
}

}  // namespace
}  // namespace treadle::simt
