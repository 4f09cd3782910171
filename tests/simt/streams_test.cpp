// Streams and events: work in order, complete when submitted.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "tests/simt/kernels.h"
#include "treadle/core/error.h"
#include "treadle/simt/stream.h"

namespace treadle::simt {
namespace {

TEST(Streams, WorkRunsInOrderAcrossStreams) {
  Stream first, second;
  std::vector<int> order;
  first.submit([&] { order.push_back(1); });
  second.submit([&] { order.push_back(2); });
  Event event;
  event.record(&second);
  first.wait(event);
  first.submit([&] { order.push_back(3); });
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(first.query());
}

TEST(Streams, KernelsAreCountedOnTheirStream) {
  Stream stream;
  std::vector<float> ones(256, 1.f);
  float sum = 0;
  Event event;
  event.record(&stream);
  block_sum_static(&stream, ones.data(), &sum, 256);
  EXPECT_EQ(sum, 256.f);
  EXPECT_EQ(event.work_count(), 0u);
  EXPECT_EQ(stream.work_count(), 1u);
  const uint64_t before = Stream::default_stream().work_count();
  block_sum_static(nullptr, ones.data(), &sum, 256);
  EXPECT_EQ(Stream::default_stream().work_count(), before + 1);
}

TEST(Streams, EventsMeasureTime) {
  Stream stream;
  Event start, end;
  start.record(&stream);
  stream.submit([] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
  end.record(&stream);
  EXPECT_GE(Event::elapsed(start, end), 5.f);
  EXPECT_LE(Event::elapsed(end, start), -5.f);
}

TEST(Streams, UnrecordedEventsAreRefused) {
  Stream stream;
  Event recorded, unrecorded;
  recorded.record(&stream);
  EXPECT_THROW(stream.wait(unrecorded), DeviceError);
  EXPECT_THROW(unrecorded.synchronize(), DeviceError);
  EXPECT_THROW(Event::elapsed(recorded, unrecorded), DeviceError);
}

}  // namespace
}  // namespace treadle::simt
