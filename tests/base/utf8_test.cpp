#include "sticky/base/utf8.hpp"

#include <gtest/gtest.h>

namespace sticky {
namespace {

using namespace std::string_literals;

const std::string kFffd = "\xEF\xBF\xBD";

TEST(Utf8, AcceptsEveryCodePointAndNoSurrogate) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    utf8::append(text, c);
    ASSERT_EQ(utf8::first_invalid(text), -1) << static_cast<unsigned>(c);
    const utf8::Decoded back = utf8::decode(text, 0);
    ASSERT_EQ(back.code_point, c);
    ASSERT_EQ(back.n_bytes, static_cast<i64>(text.size()));
  }
  EXPECT_EQ(utf8::first_invalid("ab\xED\xA0\x80"), 2);      // a surrogate
  EXPECT_EQ(utf8::first_invalid("ab\xF4\x90\x80\x80"), 2);  // above U+10FFFF
  EXPECT_EQ(utf8::first_invalid("ab\xC0\x80"), 2);          // overlong
  EXPECT_EQ(utf8::first_invalid("\xC3\xA9\xE2\x82"), 2);    // cut off
  EXPECT_EQ(utf8::first_invalid(""), -1);
}

// The Unicode Standard 15.0, tables 3-8, 3-9, 3-10 and 3-11.
TEST(Utf8, ReplacesMaximalSubpartsAsTheStandardShows) {
  EXPECT_EQ(utf8::sanitize("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
            kFffd + kFffd + kFffd + kFffd + kFffd + kFffd + kFffd + kFffd + "A");
  EXPECT_EQ(utf8::sanitize("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"),
            kFffd + kFffd + kFffd + kFffd + kFffd + kFffd + kFffd + kFffd + "A");
  EXPECT_EQ(utf8::sanitize("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"),
            kFffd + kFffd + kFffd + kFffd + kFffd + "A" + kFffd + kFffd + "B");
  EXPECT_EQ(utf8::sanitize("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"),
            kFffd + kFffd + kFffd + kFffd + "A");
  EXPECT_EQ(utf8::sanitize("a\0b"s), "a\0b"s);
}

TEST(Utf8, HoldsBackOnlyWhatCanStillBecomeACharacter) {
  const std::string emoji = "\xF0\x9F\x98\x80";
  for (i64 n = 1; n < 4; ++n)
    EXPECT_EQ(utf8::complete_prefix("x" + emoji.substr(0, static_cast<std::size_t>(n))), 1) << n;
  EXPECT_EQ(utf8::complete_prefix("x" + emoji), 5);
  EXPECT_EQ(utf8::complete_prefix("x\x80"), 2);      // can never become one
  EXPECT_EQ(utf8::complete_prefix("x\xE0\x80"), 3);  // E0 80 is no beginning
  EXPECT_EQ(utf8::complete_prefix("\xE2\x82\xAC\xE2\x82"), 3);
  EXPECT_EQ(utf8::complete_prefix(""), 0);
}

}  // namespace
}  // namespace sticky
