/// Characters of texts in UTF-8, and what is none.
#include "treadle/formats/utf8.h"

#include <gtest/gtest.h>

#include "tests/refused.h"
#include "treadle/core/error.h"

namespace treadle {
namespace {

TEST(Utf8, CharactersOfEveryLength) {
  const std::u32string wanted = {U'a', U'\u00e9', U'\u20ac', U'\U0001f600', 0,       0x7f,
                                 0x80, 0x7ff,     0x800,     0xffff,        0x10000, 0x10ffff};
  std::string text;
  for (char32_t character : wanted) text += utf8_of(character);
  EXPECT_EQ(text.substr(0, 10), "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(code_points(text, "text"), wanted);
  EXPECT_EQ(code_points("", "text"), U"");
}

TEST(Utf8, WhatBeginsNoCharacterIsNamedByItsByte) {
  struct Case {
    const char* what;
    std::string bytes, message;
  };
  const std::vector<Case> cases = {{"a byte of the middle", "ab\x80", "byte 2 is 0x80"},
                                   {"cut off", "a\xe2\x82", "byte 1 is 0xe2"},
                                   {"cut by another", "\xc3(", "byte 0 is 0xc3"},
                                   {"overlong slash", "\xc0\xaf", "byte 0 is 0xc0"},
                                   {"overlong in three", "\xe0\x9f\xbf", "byte 0 is 0xe0"},
                                   {"overlong in four", "\xf0\x8f\xbf\xbf", "byte 0 is 0xf0"},
                                   {"a surrogate", "\xed\xa0\x80", "byte 0 is 0xed"},
                                   {"beyond the last", "\xf4\x90\x80\x80", "byte 0 is 0xf4"},
                                   {"five bytes", "\xf8\x88\x80\x80\x80", "byte 0 is 0xf8"},
                                   {"Latin-1", "caf\xe9 noir", "byte 3 is 0xe9"}};
  for (const Case& c : cases)
    expect_refused(
        {refused<FormatError>(c.what, {"book.txt", c.message}, [&] { code_points(c.bytes, "book.txt"); })});
}

}  // namespace
}  // namespace treadle
