#include "sticky/protocol/codec.hpp"

#include <gmock/gmock.h>
#include <random>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"

namespace sticky::protocol {
namespace {

Invocation invocation(i64 id) {
  return {.id = {id},
          .custom_id = "claim-" + std::to_string(id),
          .file = "claims.jsonl",
          .line = id + 1,
          .byte_offset = 100 * id,
          .hash = {0x0123456789abcdef, 0xfedcba9876543210},
          .attempt = 2,
          .payload = std::string("{\"prompt\":\"a\0b\"}", 16)};
}

Invocation with_progress(i64 id) {
  Invocation one = invocation(id);
  one.progress = {.arithmetic = "cpu-f32", .answers = {{3, 1, 4}, {}, {1, 5}}};
  return one;
}

std::string kept(const Invocation& one) {
  return EncodedInvocations(std::span(&one, 1)).take_bytes();
}

// Every kind once, with every field away from its default, so that a forgotten field is seen.
std::vector<Message> one_of_each() {
  return {Hello{.host = "n1",
                .pid = 4711,
                .start_ticks = 99,
                .pid_namespace = 4026531836,
                .device = "cpu"},
          StateReady{.slots = 64,
                     .arithmetic = "cpu-f32",
                     .load_seconds = 1.5,
                     .description = "SmolLM2 on 2 threads"},
          StateFailed{"model.gguf: truncated"},
          Results{{{.id = {7},
                    .is_error = true,
                    .record = "{}",
                    .prompt_tokens = 3,
                    .completion_tokens = 5},
                   {.id = {8}, .record = ""}}},
          Heartbeat{.n_steps = 12, .n_held = 3, .is_loading = true},
          HandBack{.reason = HandBack::Reason::refused,
                   .arithmetic = "cpu-f32",
                   .invocations = {{{1}, {}}, {{5}, {{7, -1, 49151}, {}}}}},
          Bye{"asked to leave"},
          Welcome{.worker = {2}, .options_json = "{\"a\":1}"},
          RunInvocations{{invocation(1), with_progress(2), invocation(3)}},
          Leave{.now = true},
          Beat{},
          Farewell{.may_finalize = true},
          Fence{.pid = 12, .start_ticks = 34},
          TakeBack{{{3}, {4}}}};
}

TEST(Codec, EveryMessageComesBackAsItWas) {
  const auto messages = one_of_each();

  ASSERT_EQ(messages.size(), std::variant_size_v<Message>);
  for (const Message& m : messages)
    EXPECT_EQ(decode(encode(m)), m) << "kind " << m.index();
}

TEST(Codec, TheBytesOfAMessageAreThoseOfTheDocument) {
  // docs/protocol.md: version, kind, fields; written out by hand.
  const std::string expected(
      "\x03\x00\x00\x00"                  // version 3
      "\x05"                              // kind 5, HandBack
      "\x01"                              // taken_back
      "\x03\x00\x00\x00\x00\x00\x00\x00"  // arithmetic: 3 bytes
      "f32"
      "\x01\x00\x00\x00\x00\x00\x00\x00"  // one invocation
      "\x02\x01\x00\x00\x00\x00\x00\x00"  // its id
      "\x02\x00\x00\x00\x00\x00\x00\x00"  // two answers
      "\x01\x00\x00\x00\x00\x00\x00\x00"  // one token
      "\x05\x00\x01\x00"
      "\x00\x00\x00\x00\x00\x00\x00\x00",  // none of the other
      4 + 1 + 1 + 8 + 3 + 8 + 8 + 8 + 8 + 4 + 8);

  EXPECT_EQ(encode(HandBack{HandBack::Reason::taken_back, "f32", {{{0x102}, {{0x10005}, {}}}}}),
            expected);
}

TEST(Codec, AnotherVersionIsRefusedByName) {
  std::string bytes = encode(Beat{});
  bytes[0] = 9;

  try {
    (void)decode(bytes);
    FAIL() << "expected FormatError";
  } catch (const FormatError& e) {
    EXPECT_STREQ(e.what(),
                 "message: protocol version 9, but this program speaks 3; do all ranks run the "
                 "same binary?");
  }
}

TEST(Codec, AnUnknownKindIsRefused) {
  std::string bytes = encode(Beat{});
  bytes[4] = static_cast<char>(std::variant_size_v<Message>);

  EXPECT_THROW((void)decode(bytes), FormatError);
}

TEST(Codec, ATruncationAtAnyByteIsRefused) {
  for (const Message& m : one_of_each()) {
    const std::string bytes = encode(m);
    for (std::size_t n = 0; n < bytes.size(); ++n)
      EXPECT_THROW((void)decode(bytes.substr(0, n)), FormatError)
          << "kind " << m.index() << " cut to " << n << " of " << bytes.size() << " bytes";
  }
}

TEST(Codec, BytesBehindTheEndAreRefused) {
  for (const Message& m : one_of_each())
    EXPECT_THROW((void)decode(encode(m) + '\0'), FormatError) << "kind " << m.index();
}

TEST(Codec, FlippedBitsGiveAnErrorOrAnotherMessageButNeverMore) {
  std::mt19937 random(20260101);
  for (const Message& m : one_of_each()) {
    const std::string bytes = encode(m);
    for (int round = 0; round < 2000; ++round) {
      std::string hostile = bytes;
      for (auto flips = 1 + random() % 4; flips > 0; --flips)
        hostile[random() % hostile.size()] ^= static_cast<char>(1 << random() % 8);
      try {
        // What decodes must be a message in its own right: it encodes to the very bytes.
        EXPECT_EQ(encode(decode(hostile)), hostile);
      } catch (const FormatError&) {
      }
    }
  }
}

TEST(Codec, AHugeCountIsRefusedBeforeMemoryIsTakenForIt) {
  std::string ids = encode(TakeBack{{{1}}});
  ids[4 + 1 + 7] = 0x7f;  // the highest byte of the count
  EXPECT_THROW((void)decode(ids), FormatError);

  // Of tokens, which are shorter than anything else in a list: one more than there are bytes for.
  std::string tokens = encode(HandBack{HandBack::Reason::leaving, "", {{{1}, {{1, 2, 3}}}}});
  const std::size_t count_at = tokens.size() - 3 * sizeof(i32) - sizeof(i64);
  ASSERT_EQ(tokens[count_at], 3);
  for (const char count : {'\x04', '\x7f'}) {
    tokens[count_at] = count;
    EXPECT_THROW((void)decode(tokens), FormatError);
  }
}

TEST(Codec, AnUnknownReasonOfAHandBackIsRefused) {
  std::string bytes = encode(HandBack{});
  bytes[4 + 1] = 3;

  EXPECT_THROW((void)decode(bytes), FormatError);
}

TEST(Codec, AnInvocationWithoutProgressCostsOneByteForIt) {
  const Invocation plain = invocation(1);

  EXPECT_EQ(encode(RunInvocations{{plain}}).size(), 4 + 1 + 8 + 8 + 1 + kept(plain).size());
}

TEST(RunInvocationsWriter, WritesWhatEncodeWritesWithTheAttemptOfEachSending) {
  Invocation first = invocation(1), second = with_progress(2);

  RunInvocationsWriter writer(2, 0);
  writer.add(kept(first), 3);
  writer.add(kept(second), 1, encode_progress(*second.progress));

  first.attempt = 3;
  second.attempt = 1;
  EXPECT_EQ(writer.take(), encode(RunInvocations{{first, second}}));
}

TEST(EncodedInvocations, EachComesBackWithItsFirstAttemptAndNoProgress) {
  const EncodedInvocations block(std::vector{with_progress(4), invocation(9)});

  ASSERT_EQ(block.places().size(), 2U);
  for (const auto& [id, begin, n_bytes] : block.places()) {
    Invocation expected = invocation(id.value);
    expected.attempt = 1;
    EXPECT_EQ(decode_invocation(std::string_view(block.bytes()).substr(begin, n_bytes)), expected);
  }
  EXPECT_EQ(block.places()[1].id, InvocationId{9});
  EXPECT_EQ(block.places()[1].begin + block.places()[1].n_bytes, block.bytes().size());
}

}  // namespace
}  // namespace sticky::protocol
