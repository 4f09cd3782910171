/// Event files: checksums and framing. tests/cli/tensorboard_test.py reads whole files with TensorBoard.
#include "treadle/formats/event_records.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "treadle/formats/protobuf_message.h"

namespace treadle {
namespace {

template <class Word>
Word word_at(const std::string& bytes, size_t place) {
  Word word;
  std::memcpy(&word, bytes.data() + place, sizeof(Word));
  return word;
}

/// Takes the mask off again.
uint32_t unmasked(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8u;
  return rotated >> 17 | rotated << 15;
}

/// The messages of a file; checks their frames.
std::vector<std::string> messages_in(const std::string& file) {
  std::vector<std::string> messages;
  for (size_t place = 0; place < file.size();) {
    const auto length = word_at<uint64_t>(file, place);
    EXPECT_EQ(unmasked(word_at<uint32_t>(file, place + 8)), crc32c(file.substr(place, 8)));
    messages.push_back(file.substr(place + 12, length));
    EXPECT_EQ(unmasked(word_at<uint32_t>(file, place + 12 + length)), crc32c(messages.back()));
    place += 16 + length;
  }
  return messages;
}

/// RFC 3720, B.4, and the usual check value.
TEST(EventRecordsTest, ChecksumsAreThoseOfCastagnoli) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(EventRecordsTest, EachRecordIsFramed) {
  EventRecords records;
  records.begin_file();
  records.scalar(300, "loss", 0.5);
  const double values[] = {1, 2, NAN};
  records.histogram(1, "weights", values);
  records.histogram(1, "nothing", std::span(values).subspan(2));
  records.image(2, "picture", {1, 1, 1, {7}});
  const auto messages = messages_in(records.take());
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_NE(messages[0].find("brain.Event:2"), std::string::npos);
  // Behind the time: step 300, then a summary of one value, a tag and the bits of 0.5.
  EXPECT_EQ(messages[1].substr(9), std::string("\x10\xac\x02\x2a\x0d\x0a\x0b\x0a\x04loss\x15\0\0\0\x3f", 18));
  EXPECT_NE(messages[3].find("\x89PNG"), std::string::npos);
  EXPECT_EQ(records.take(), "");
}

TEST(EventRecordsTest, NumbersAreWrittenAsTheWireFormatSays) {
  ProtobufMessage message;
  message.integer(1, 150);
  message.integer(4, 100);
  message.integer(2, -1);
  const double list[] = {1.0};
  message.numbers(3, list);
  EXPECT_EQ(message.bytes(), std::string("\x08\x96\x01\x20\x64\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                                         "\x1a\x08\0\0\0\0\0\0\xf0\x3f",
                                         26));
}

}  // namespace
}  // namespace treadle
