#include "treadle/simt/driver/refused_headers.h"

#include <gtest/gtest.h>

#include "treadle/simt/driver/source.h"

namespace treadle::simt::driver {
namespace {

template <class Call>
std::string message_of(Call call) {
  try {
    call();
    return "";
  } catch (const SourceError& error) {
    return error.what();
  }
}

TEST(RefusedHeadersTest, HeadersOfLibrariesAreKnown) {
  EXPECT_EQ(library_of_header("cublas_v2.h"), "cuBLAS");
  EXPECT_EQ(library_of_header("/usr/local/cuda/include/curand_kernel.h"), "cuRAND");
  EXPECT_EQ(library_of_header("thrust/device_vector.h"), "Thrust");
  EXPECT_EQ(library_of_header("/opt/cub/block/block_reduce.cuh"), "CUB");
}

TEST(RefusedHeadersTest, OtherHeadersAreNone) {
  for (const char* header :
       {"cuda_runtime.h", "my_cublas.h", "cublas/own.h", "nppp/x.h", "a/thrust.h", "cubes.h", ""})
    EXPECT_EQ(library_of_header(header), "") << header;
}

TEST(RefusedHeadersTest, AnIncludedOneIsRefusedWhereItIsIncluded) {
  EXPECT_EQ(message_of([] {
              refuse_included_libraries(
                  "# 1 \"a.cu\"\nint x;\n\n# 1 \"/cuda/cufft.h\" 1 3\nint y;\n# 4 \"a.cu\" 2\n");
            }),
            "a.cu:3: cufft.h belongs to cuFFT, which is not there: programs that need a library of the CUDA "
            "toolkit are not supported");
  EXPECT_EQ(message_of([] {
              refuse_included_libraries("# 1 \"cufft_test.cu\"\n# 1 \"b.h\" 1\n# 2 \"cufft.h\" 2\n");
            }),
            "");
}

TEST(RefusedHeadersTest, AMissingOneIsRefused) {
  EXPECT_EQ(message_of([] {
              refuse_missing_libraries(
                  "In file included from x.cu:1:\na.cu:7:10: fatal error: cublas_v2.h: No such file or "
                  "directory\n    7 | #include <cublas_v2.h>\n");
            }),
            "a.cu:7: cublas_v2.h belongs to cuBLAS, which is not there: programs that need a library of the "
            "CUDA toolkit "
            "are not supported");
  EXPECT_EQ(message_of([] {
              refuse_missing_libraries("a.cu:7:10: fatal error: own.h: No such file or directory\n");
            }),
            "");
}

}  // namespace
}  // namespace treadle::simt::driver
