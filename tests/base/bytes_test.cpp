#include "sticky/base/bytes.hpp"

#include <gtest/gtest.h>

namespace sticky {
namespace {

std::string sample() {
  ByteWriter writer;
  writer.number(std::uint16_t{0x1234});
  writer.string("ab");
  writer.number(1.5F);
  return writer.take();
}

TEST(Bytes, AreLittleEndianWithoutPadding) {
  EXPECT_EQ(sample(), std::string("\x34\x12\x02\0\0\0\0\0\0\0ab\0\0\xc0\x3f", 16));
}

TEST(Bytes, ComeBackAsTheyWent) {
  const std::string bytes = sample();
  ByteReader reader(bytes, "sample");

  EXPECT_EQ(reader.number<std::uint16_t>(), 0x1234);
  EXPECT_EQ(reader.string(), "ab");
  EXPECT_EQ(reader.number<float>(), 1.5F);
  EXPECT_NO_THROW(reader.expect_end());
}

TEST(ByteReader, RefusesATextCutAnywhere) {
  const std::string bytes = sample();
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const std::string cut = bytes.substr(0, n);
    ByteReader reader(cut, "sample");
    EXPECT_THROW(
        {
          (void)reader.number<std::uint16_t>();
          (void)reader.string();
          (void)reader.number<float>();
        },
        FormatError)
        << n;
  }
}

TEST(ByteReader, RefusesLengthsThatCannotBe) {
  for (const i64 n : {i64{-1}, i64{9}, INT64_MAX, INT64_MIN}) {
    ByteWriter writer;
    writer.number(n);
    writer.number(i64{0});
    const std::string bytes = writer.take();
    EXPECT_THROW((void)ByteReader(bytes, "m").string(), FormatError) << n;
    EXPECT_THROW((void)ByteReader(bytes, "m").count(1), FormatError) << n;
  }
}

TEST(ByteReader, RefusesWhatIsLeftOver) {
  ByteReader reader("xy", "message");
  (void)reader.number<char>();
  try {
    reader.expect_end();
    FAIL() << "expected FormatError";
  } catch (const FormatError& e) {
    EXPECT_STREQ(e.what(), "message: 1 bytes too many at the end");
  }
}

}  // namespace
}  // namespace sticky
