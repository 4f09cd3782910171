// CUDA's host interface: what it does, and what it refuses as the CUDA runtime does.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "treadle/simt/device.h"
#include "treadle/simt/toolkit/device_api.h"
#include "treadle/simt/toolkit/error_api.h"
#include "treadle/simt/toolkit/launch_api.h"
#include "treadle/simt/toolkit/memory_api.h"
#include "treadle/simt/toolkit/stream_api.h"

namespace treadle::simt {
namespace {

void add_index(int* x, int n, int summand) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < static_cast<unsigned>(n)) x[i] += static_cast<int>(i) + summand;
}

void trap(int) { __trap(); }

/// Forgets what a test has left.
struct HostInterface : testing::Test {
  ~HostInterface() override { cudaDeviceReset(); }
};

TEST_F(HostInterface, CopiesThereAndBack) {
  std::vector<int> x(100, 7), y(100);
  int* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 400), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device, x.data(), 400, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemset(device, 0, 40), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(y.data(), device, 400, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(y[9], 0);
  EXPECT_EQ(y[10], 7);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST_F(HostInterface, CopiesRowsWithPitches) {
  const std::vector<char> x{'a', 'b', 'c', '-', 'd', 'e', 'f', '-'};
  char* device = nullptr;
  size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&device, &pitch, 3, 2), cudaSuccess);
  EXPECT_EQ(pitch % 512, 0u);
  EXPECT_EQ(cudaMemcpy2D(device, pitch, x.data(), 4, 3, 2, cudaMemcpyHostToDevice), cudaSuccess);
  char y[7] = {};
  EXPECT_EQ(cudaMemcpy2D(y, 3, device, pitch, 3, 2, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_STREQ(y, "abcdef");
  EXPECT_EQ(cudaMemcpy2D(y, 2, device, pitch, 3, 2, cudaMemcpyDeviceToHost), cudaErrorInvalidPitchValue);
}

TEST_F(HostInterface, RefusesWrongCopies) {
  int *a = nullptr, *b = nullptr, host[8] = {};
  ASSERT_EQ(cudaMalloc(&a, 16), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&b, 64), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(a, host, 20, cudaMemcpyHostToDevice), cudaErrorInvalidValue) << "past the end";
  EXPECT_EQ(cudaMemcpy(host, a + 2, 12, cudaMemcpyDeviceToHost), cudaErrorInvalidValue) << "past the end";
  EXPECT_EQ(cudaMemcpy(a, host, 8, cudaMemcpyDeviceToHost), cudaErrorInvalidValue) << "the direction";
  EXPECT_EQ(cudaMemcpy(host, b, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue) << "the direction";
  EXPECT_EQ(cudaMemcpy(nullptr, b, 8, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(a, b, 8, static_cast<cudaMemcpyKind>(9)), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(a, b, 16, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemset(host, 0, 4), cudaErrorInvalidValue);
}

TEST_F(HostInterface, KnowsItsMemory) {
  int *device = nullptr, *managed = nullptr, *pinned = nullptr, host = 0;
  cudaMalloc(&device, 8);
  cudaMallocManaged(&managed, 8);
  cudaMallocHost(&pinned, 8);
  cudaPointerAttributes attributes{};
  const auto type_of = [&](const void* memory) {
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
    return attributes.type;
  };
  EXPECT_EQ(type_of(device + 1), cudaMemoryTypeDevice);
  EXPECT_EQ(type_of(managed), cudaMemoryTypeManaged);
  EXPECT_EQ(type_of(pinned), cudaMemoryTypeHost);
  EXPECT_EQ(type_of(&host), cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaFreeHost(device), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(pinned), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue) << "a second time";
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&device, size_t{1} << 50), cudaErrorMemoryAllocation);
  EXPECT_EQ(device, nullptr);
}

TEST_F(HostInterface, TheLastErrorIsForgottenOnceRead) {
  EXPECT_EQ(cudaSetDevice(3), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(5555)), "unrecognized error code");
}

TEST_F(HostInterface, LaunchesByFunction) {
  int* x = nullptr;
  cudaMallocManaged(&x, 100 * sizeof(int));
  std::memset(x, 0, 100 * sizeof(int));
  int n = 100, summand = 5;
  void* arguments[] = {&x, &n, &summand};
  EXPECT_EQ(cudaLaunchKernel(add_index, dim3(4), dim3(32), arguments), cudaSuccess);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(x[i], i + 5);
  cudaLaunchConfig_t configuration{dim3(1), dim3(100), 0, nullptr, nullptr, 0};
  EXPECT_EQ(cudaLaunchKernelEx(&configuration, add_index, x, 10, 1), cudaSuccess);
  EXPECT_EQ(x[9], 9 + 5 + 9 + 1);
  EXPECT_EQ(x[10], 15);
}

TEST_F(HostInterface, RefusesImpossibleLaunches) {
  int *x = nullptr, n = 0, summand = 0;
  void* arguments[] = {&x, &n, &summand};
  EXPECT_EQ(cudaLaunchKernel(add_index, dim3(1), dim3(1025), arguments), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(add_index, dim3(0), dim3(1), arguments), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(add_index, dim3(1, 65536), dim3(1), arguments), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(add_index, dim3(1), dim3(1), arguments, 64 * 1024), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(add_index, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024),
            cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(add_index, dim3(1), dim3(1), arguments, 64 * 1024), cudaSuccess);
  EXPECT_EQ(cudaLaunchCooperativeKernel(add_index, dim3(265), dim3(1024), arguments),
            cudaErrorCooperativeLaunchTooLarge);
}

TEST_F(HostInterface, AFailedKernelEndsTheDevice) {
  int zero = 0, count = 0;
  void* arguments[] = {&zero};
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaLaunchKernel(trap, dim3(1), dim3(1), arguments), cudaErrorLaunchFailure);
  const std::string message = testing::internal::GetCapturedStderr();
  EXPECT_NE(message.find("__trap()"), std::string::npos) << message;
  EXPECT_NE(message.find("::trap, block"), std::string::npos) << "the symbol's name: " << message;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorLaunchFailure) << "until the device is reset";
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
}

TEST_F(HostInterface, CapturesGraphsOfSeveralStreams) {
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t fork = nullptr;
  int* x = nullptr;
  cudaMallocManaged(&x, 64);
  std::memset(x, 0, 64);
  cudaStreamCreate(&first);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
  EXPECT_EQ(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal), cudaSuccess);
  cudaMemsetAsync(x, 1, 4, first);
  cudaEventRecord(fork, first);
  cudaStreamWaitEvent(second, fork);
  cudaMemsetAsync(x + 1, 2, 4, second);
  int n = 16, summand = 1;
  void* arguments[] = {&x, &n, &summand};
  EXPECT_EQ(cudaLaunchKernel(add_index, dim3(1), dim3(16), arguments, 0, first), cudaSuccess);
  summand = 1000;  // the graph has the value of then
  EXPECT_EQ(x[0], 0) << "nothing runs while it is captured";
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(second, &graph), cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(cudaStreamEndCapture(first, &graph), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cudaGraphLaunch(executable, first), cudaSuccess);
  EXPECT_EQ(x[0], 0x01010101 + 1);
  EXPECT_EQ(x[1], 0x02020202 + 2);
  EXPECT_EQ(x[15], 2 * (15 + 1));
}

TEST_F(HostInterface, WaitingBreaksACapture) {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
}

TEST_F(HostInterface, EventsThatWereNeverRecordedHaveNoTime) {
  cudaEvent_t start = nullptr, end = nullptr;
  cudaEventCreate(&start);
  cudaEventCreate(&end);
  float time = -1;
  cudaEventRecord(start);
  EXPECT_EQ(cudaEventElapsedTime(&time, start, end), cudaErrorInvalidResourceHandle);
  cudaEventRecord(end);
  EXPECT_EQ(cudaEventElapsedTime(&time, start, end), cudaSuccess);
  EXPECT_GE(time, 0.f);
}

TEST_F(HostInterface, TheDeviceHasTheLimitsOfHopper) {
  cudaDeviceProp properties{};
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_STREQ(properties.name, "Treadle SIMT executor");
  EXPECT_EQ(properties.major, 9);
  EXPECT_EQ(properties.warpSize, 32);
  int value = 0;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), cudaSuccess);
  EXPECT_EQ(value, 227 * 1024);
  EXPECT_EQ(properties.pageableMemoryAccess, 0) << "the checker reports kernels that use the host's memory";
  int blocks = 0;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_index, 256, 0), cudaSuccess);
  EXPECT_EQ(blocks, 8) << "2048 threads";
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_index, 32, 100 * 1024);
  EXPECT_EQ(blocks, 2) << "228 KiB, of which each block takes one more";
}

int symbol[4];

TEST_F(HostInterface, CopiesToVariables) {
  const int values[4] = {1, 2, 3, 4};
  EXPECT_EQ(cudaMemcpyToSymbol(symbol, values, 16), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbol(symbol, values, 8, 12), cudaErrorInvalidValue);
  int last = 0;
  EXPECT_EQ(cudaMemcpyFromSymbol(&last, symbol, 4, 12), cudaSuccess);
  EXPECT_EQ(last, 4);
  EXPECT_EQ(cudaMemcpyToSymbol(symbol, values, 4, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
}

}  // namespace
}  // namespace treadle::simt
