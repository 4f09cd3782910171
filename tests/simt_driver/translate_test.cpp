/// What the translator makes of CUDA's notation, and that it leaves all else alone.
#include "treadle/simt/driver/translate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "treadle/simt/driver/source.h"

namespace treadle::simt::driver {
namespace {

std::string translated(const std::string& text) { return translate(text, "simt"); }

/// One line without spaces that C++ does not need.
std::string squeezed(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::string result;
  for (const char c : text)
    if (c != ' ' || (!result.empty() && result.back() != ' ')) result += c;
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

/// The launch's kernel and configuration: "kernel | 1, 2".
std::string launch_in(const std::string& text) {
  const std::string result = translated(text);
  const size_t name = result.find("launch_syntax(\"");
  if (name == std::string::npos) return "none";
  const size_t begin = name + 15, end = result.find("\", [&]", begin);
  const size_t shape = result.find("LaunchShape(", end) + 12;
  size_t close = result.find("))", shape);
  while (result.find_first_not_of(" ", close + 2) != result.find('(', close + 2))
    close = result.find("))", close + 1);
  return result.substr(begin, end - begin) + " | " + squeezed(result.substr(shape, close - shape));
}

/// The message of the refusal; empty where there is none.
std::string refusal_of(const std::string& text) {
  try {
    translate(text, "simt");
    return "";
  } catch (const SourceError& error) {
    return error.what();
  }
}

TEST(TranslateTest, LaunchIsACallWithNameKernelAndShape) {
  EXPECT_EQ(
      squeezed(translated("void f() { k<<<1, 2>>>(a, b); }")),
      "void f() { ::treadle::simt::launch_syntax(\"k\", [&](auto... n_) -> "
      "decltype(::treadle::simt::kernel_of(k, n_...)) { return ::treadle::simt::kernel_of(k, n_...); }, "
      "[&](auto&&... a_) { k(a_...); }, ::treadle::simt::LaunchShape(1, 2))(a, b); }");
  EXPECT_NE(translate("k<<<1, 2>>>();", "checked").find("::treadle::checked::LaunchShape(1, 2))();"),
            std::string::npos);
}

TEST(TranslateTest, KernelIsTheExpressionBeforeTheAngles) {
  for (const auto& [text, kernel] : std::vector<std::pair<std::string, std::string>>{
           {"k<<<1, 2>>>(a);", "k"},
           {"if (x) k<<<1, 2>>>(a);", "k"},
           {"else k<<<1, 2>>>(a);", "k"},
           {"return ::k<<<1, 2>>>(a);", "::k"},
           {"x = 1; a::b::k<<<1, 2>>>(a);", "a::b::k"},
           {"k<float><<<1, 2>>>(a);", "k<float>"},
           {"k<float, 4><<<1, 2>>>(a);", "k<float, 4>"},
           {"k<A<B<int>>><<<1, 2>>>(a);", "k<A<B<int>>>"},
           {"k<(N > 3), sizeof(A)><<<1, 2>>>(a);", "k<(N > 3), sizeof(A)>"},
           {"a<T>::template k<N><<<1, 2>>>(a);", "a<T>::template k<N>"},
           {"f(x), (*pointer)<<<1, 2>>>(a);", "(*pointer)"},
           {"kernels[i + 1]<<<1, 2>>>(a);", "kernels[i + 1]"},
           {"object.kernels[i]<<<1, 2>>>(a);", "object.kernels[i]"},
           {"object->kernel<<<1, 2>>>(a);", "object->kernel"},
           {"kernel_for(n)<<<1, 2>>>(a);", "kernel_for(n)"},
           {"a < b; c > d; k<<<1, 2>>>(a);", "k"},
           {"case 3:k<<<1, 2>>>(a);", "k"},
           {"x ? k<<<1, 2>>>(a) : y;", "k"},
       })
    EXPECT_EQ(launch_in(text), kernel + " | 1, 2") << text;
}

TEST(TranslateTest, ConfigurationEndsAtItsOwnAngles) {
  for (const std::string shape :
       {"1, 2", "dim3(1, 2), dim3{3, 4}, 0, stream", "(n + 255) / 256, 256", "n >> 2, 256", "n >> 2, m >> 3",
        "i < n ? 1 : 2, 256", "std::max<int>(1, 2), 4", "N<2>, 1", "1, N<2>", "f<A<B<int>>>(), 2",
        "i < n, 256", "blocks.x, sizeof(float[4]) > 2", "p->grid, p->block", "a[b > c], 1"})
    EXPECT_EQ(launch_in("k<<<" + shape + ">>>(a);"), "k | " + shape);
}

TEST(TranslateTest, LaunchesAsFormattersWriteThem) {
  EXPECT_EQ(launch_in("k << <1, 2 >> > (a);"), "k | 1, 2");
  EXPECT_EQ(launch_in("k <<< 1, 2 >>> (a);"), "k | 1, 2");
  EXPECT_EQ(launch_in("n = 1'000; k<<<1, 2>>>(a);"), "k | 1, 2");
}

TEST(TranslateTest, SeveralLaunchesInOneStatement) {
  const std::string result = translated("a<<<1, 2>>>(x), b<<<3, 4>>>(y);");
  EXPECT_NE(result.find("LaunchShape(1, 2))(x),"), std::string::npos) << result;
  EXPECT_NE(result.find("LaunchShape(3, 4))(y);"), std::string::npos) << result;
}

TEST(TranslateTest, AnglesElsewhereAreLeftAlone) {
  for (const std::string text :
       {"std::cout << a << \"k<<<1, 2>>>(a)\" << '<';", "auto s = R\"x(say \"k<<<1,2>>>()\" )\" )x\";",
        "x = a >> 1;", "std::vector<std::vector<std::vector<int>>> v(3);", "friend S operator<<<T>(S, T);",
        "char c = '\\''; x << y;", "int n = 1'000'000 << 2;", "a = b < c;",
        "auto r = L\"<<<\"; auto q = u8'<';", "x = 0x1p-3 + .5e+7f;"})
    EXPECT_EQ(translated(text), text);
}

TEST(TranslateTest, LinesStayWhereTheyAre) {
  const std::string text =
      "k<float,\n  2>\n<<<1,\n# 7 \"other.h\"\n 2\n>>>\n(a,\n b);\n__launch_bounds__(\n 3) void g();\nint "
      "last;";
  const std::string result = translated(text);
  EXPECT_EQ(std::count(result.begin(), result.end(), '\n'), std::count(text.begin(), text.end(), '\n'))
      << result;
  EXPECT_NE(result.find("\n# 7 \"other.h\"\n"), std::string::npos) << result;
  EXPECT_TRUE(result.ends_with("\nint last;"));
}

TEST(TranslateTest, MarkerWithinAKernelsNameIsNotPartOfIt) {
  EXPECT_EQ(launch_in("k<float,\n# 3 \"a.cu\"\n 2><<<1, 2>>>(a);"), "k<float, 2> | # 3 \"a.cu\" 1, 2");
}

TEST(TranslateTest, QualifiersOfFunctionsAndVariables) {
  for (const auto& [text, result] : std::vector<std::pair<std::string, std::string>>{
           {"__global__ void k() {}", "void k() {}"},
           {"static __device__ __host__ int f();", "static int f();"},
           {"__constant__ float c[4];", "float c[4];"},
           {"__device__ __managed__ int m;", "int m;"},
           {"void __launch_bounds__(256, 2) k();", "void k();"},
           {"void k(const __grid_constant__ int x);", "void k(const int x);"},
           {"__device__ __forceinline__ int f();", "inline int f();"},
           {"static __forceinline__ inline int f();", "static inline int f();"},
           {"inline int __forceinline__ f();", "inline int f();"},
           {"int a; __forceinline__ int f();", "int a; inline int f();"},
           {"__noinline__ int f();", "__attribute__((noinline)) int f();"},
           {"__attribute__((__noinline__)) int f();", "__attribute__((__noinline__)) int f();"},
           {"__attribute__((noreturn, __noinline__)) int f();",
            "__attribute__((noreturn, __noinline__)) int f();"},
           {"[[gnu::__noinline__]] int f();", "[[gnu::__noinline__]] int f();"},
           {"auto f = [] __device__ (int i) { return i; };", "auto f = [] (int i) { return i; };"},
       })
    EXPECT_EQ(squeezed(translated(text)), result);
}

TEST(TranslateTest, SharedVariablesAreOfTheThread) {
  for (const auto& [text, result] : std::vector<std::pair<std::string, std::string>>{
           {"__shared__ float x[4];", "static thread_local float x[4];"},
           {"static __shared__ float x[4];", "static thread_local float x[4];"},
           {"__shared__ static float x[4];", "thread_local static float x[4];"},
           {"extern __shared__ float x[];", "extern thread_local float x[];"},
           {"__shared__ extern float x[];", "thread_local extern float x[];"},
           {"volatile __shared__ int x;", "volatile static thread_local int x;"},
           {"float __shared__ x[2];", "float static thread_local x[2];"},
           {"__shared__ alignas(16) float x[4];", "alignas(16) static thread_local float x[4];"},
           {"extern __shared__ alignas(16) char x[];", "alignas(16) extern thread_local char x[];"},
           {"alignas(16) extern __shared__ char x[];", "alignas(16) extern thread_local char x[];"},
           {"struct alignas(8) S { alignas(4) char c; };", "struct alignas(8) S { alignas(4) char c; };"},
           {"extern int y; __shared__ int x;", "extern int y; static thread_local int x;"},
       })
    EXPECT_EQ(squeezed(translated(text)), result);
}

TEST(TranslateTest, PragmasOfUnrollingGoAndOthersStay) {
  EXPECT_EQ(translated("#pragma unroll 4\nx;\n# pragma nounroll\n#pragma omp parallel\n"),
            "\nx;\n\n#pragma omp parallel\n");
}

TEST(TranslateTest, KernelsOfLaunchCallsKeepTheirTypes) {
  EXPECT_EQ(squeezed(translated("cudaLaunchKernel((void*)k<int>, g, b, a, 0, s);")),
            "cudaLaunchKernel( k<int>, g, b, a, 0, s);");
  EXPECT_EQ(squeezed(translated("cudaLaunchCooperativeKernel((const void *)k, g, b, a);")),
            "cudaLaunchCooperativeKernel( k, g, b, a);");
  EXPECT_EQ(squeezed(translated("cudaLaunchKernel(reinterpret_cast<void const*>(k), g);")),
            "cudaLaunchKernel( (k), g);");
  EXPECT_EQ(translated("cudaLaunchKernel((F)k, g); free((void*)k);"),
            "cudaLaunchKernel((F)k, g); free((void*)k);");
}

TEST(TranslateTest, InlinePtxIsRefusedWhereItStands) {
  EXPECT_EQ(refusal_of("# 1 \"a.cu\"\n\n__device__ int lane() {\n  int x;\n"
                       "# 40 \"b.cuh\"\n  asm volatile (\"mov.u32 %0, \" \"%laneid;\" : \"=r\"(x));\n}"),
            "b.cuh:40: inline PTX is not supported: asm (\"mov.u32 %0, %laneid;\")");
  EXPECT_EQ(refusal_of("__host__ __device__ void f() { __asm__(\"trap;\"); }"),
            ":1: inline PTX is not supported: __asm__ (\"trap;\")");
  EXPECT_EQ(refusal_of("__device__ void f() { if (x) {} asm(\"trap;\"); }"),
            ":1: inline PTX is not supported: asm (\"trap;\")");
  EXPECT_EQ(refusal_of("__global__ void f(int a = int{}) { asm(\"trap;\"); }"),
            ":1: inline PTX is not supported: asm (\"trap;\")");
}

TEST(TranslateTest, AssemblyOfTheHostAndFencesOfTheCompilerAreNoPtx) {
  EXPECT_EQ(refusal_of("__device__ int x; __device__ void g(); void f() { asm(\"nop\"); }"), "");
  EXPECT_EQ(refusal_of("__global__ void k() { int y[] = {1}; } int main() { asm(\"nop\"); }"), "");
  EXPECT_EQ(refusal_of("__device__ void f() { asm volatile(\"\" ::: \"memory\"); }"), "");
  EXPECT_EQ(refusal_of("struct S { __device__ S() : x{1} {} void f() { asm(\"nop\"); } int x; };"), "");
}

TEST(TranslateTest, LaunchesOfKernelsAreRefused) {
  const std::string message = "# 3 \"a.cu\"\n";
  EXPECT_EQ(refusal_of("# 3 \"a.cu\"\n__global__ void k() {\n  k<<<1, 2>>>(); }"),
            "a.cu:4: a launch from device code (dynamic parallelism) is not supported");
  EXPECT_EQ(refusal_of("__host__ __device__ void f() { k<<<1, 2>>>(); }"), "");
  EXPECT_EQ(refusal_of("__global__ void k() {} void f() { k<<<1, 2>>>(); }"), "");
}

TEST(TranslateTest, WhatCannotBeALaunchIsRefused) {
  EXPECT_EQ(refusal_of("# 3 \"a.cu\"\nk<<<1, 2>>(a);"), "a.cu:3: the launch of k has no >>>(…)");
  EXPECT_EQ(refusal_of("# 3 \"a.cu\"\n; <<<1, 2>>>(a);"),
            "a.cu:3: no kernel stands before the <<< of this launch");
  EXPECT_EQ(refusal_of("# 3 \"a.cu\"\n__global__ void __cluster_dims__(2) k();"),
            "a.cu:3: thread block clusters (__cluster_dims__) are not supported");
}

TEST(TranslateTest, AnyTextIsTakenWithoutFault) {
  for (const std::string text : {"",
                                 "<<<",
                                 "k<<<",
                                 ">>>",
                                 ")))",
                                 "k<<<(",
                                 "\"",
                                 "'",
                                 "R\"(",
                                 "R\"",
                                 "__shared__",
                                 "alignas",
                                 "__launch_bounds__(",
                                 "asm",
                                 "#",
                                 "# 1",
                                 "# 1 \"",
                                 "__device__ { asm",
                                 "cudaLaunchKernel(",
                                 "cudaLaunchKernel((void*",
                                 "}}}",
                                 "k<A<<<1>>>(",
                                 "a > <<<1,2>>>()"})
    refusal_of(text);
}

}  // namespace
}  // namespace treadle::simt::driver
