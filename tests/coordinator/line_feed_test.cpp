#include "sticky/coordinator/line_feed.hpp"

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"

namespace sticky::coordinator {
namespace {

class GivenLines final : public io::InputReader {
 public:
  GivenLines(std::vector<io::InputLine> lines, std::string failure)
      : lines_(std::move(lines)),
        failure_(std::move(failure)) {}
  [[nodiscard]] std::optional<io::InputLine> next() override {
    if (at_ < lines_.size()) return lines_[at_++];
    if (!failure_.empty()) fail<SystemError>("{}", failure_);
    return std::nullopt;
  }
  [[nodiscard]] i64 bytes_read() const override { return static_cast<i64>(at_); }
  [[nodiscard]] i64 bytes_total() const override { return std::ssize(lines_); }

 private:
  std::vector<io::InputLine> lines_;
  std::string failure_;
  std::size_t at_ = 0;
};

// Each seventh line is no request; the model of each is "m", from the hundredth on "n".
std::vector<io::InputLine> some_lines(i64 n) {
  std::vector<io::InputLine> lines;
  for (i64 id = 0; id < n; ++id) {
    io::InputLine& line = lines.emplace_back();
    line.id = {id};
    line.custom_id = "r" + std::to_string(id);
    line.file = "f";
    line.line = id + 1;
    line.model = id < 100 ? "m" : "n";
    line.payload = "payload " + std::to_string(id);
    if (id % 7 == 6) line.error_code = "invalid_json_line";
  }
  return lines;
}

struct Taken {
  std::vector<protocol::Invocation> requests;
  std::vector<i64> bad;
  std::vector<OtherModel> other_models;
  Portion last;
};

Taken take_all(LineFeed& feed) {
  Taken all;
  do {
    all.last = feed.take();
    for (const protocol::EncodedInvocations& block : all.last.blocks)
      for (const auto& place : block.places()) {
        const std::string_view bytes(block.bytes());
        all.requests.push_back(
            protocol::decode_invocation(bytes.substr(place.begin, place.n_bytes)));
      }
    for (const io::InputLine& line : all.last.bad_lines)
      all.bad.push_back(line.id.value);
    if (all.last.other_model) all.other_models.push_back(*all.last.other_model);
    std::this_thread::yield();
  } while (!all.last.has_ended);
  return all;
}

TEST(ReadAhead, EveryLineComesOnceAndInOrderRequestsApartFromBadLines) {
  const auto lines = some_lines(1000);
  const auto feed = read_ahead(std::make_unique<GivenLines>(lines, ""), nullptr,
                               [](std::string_view) { return true; });
  const Taken all = take_all(*feed);

  std::vector<protocol::Invocation> requests;
  std::vector<i64> bad;
  for (const io::InputLine& line : lines) {
    if (line.error_code.empty())
      requests.push_back(to_invocation(line));
    else
      bad.push_back(line.id.value);
  }
  EXPECT_EQ(all.requests, requests);
  EXPECT_EQ(all.bad, bad);
  EXPECT_TRUE(all.other_models.empty());
  EXPECT_EQ(all.last.bytes_read, 1000);
  EXPECT_EQ(all.last.failure, "");
}

TEST(ReadAhead, TheFirstRequestForAModelThatIsNotServedIsToldOnce) {
  const auto feed = read_ahead(std::make_unique<GivenLines>(some_lines(400), ""), nullptr,
                               [](std::string_view model) { return model == "m"; });
  const Taken all = take_all(*feed);

  ASSERT_EQ(all.other_models.size(), 1U);
  EXPECT_EQ(all.other_models[0].model, "n");
  EXPECT_EQ(all.other_models[0].file, "f");
  EXPECT_EQ(all.other_models[0].line, 101);
}

TEST(ReadAhead, WhatStoodBeforeAFaultIsGivenOutWithTheReason) {
  const auto feed = read_ahead(std::make_unique<GivenLines>(some_lines(5), "f: I/O error"), nullptr,
                               [](std::string_view) { return true; });
  const Taken all = take_all(*feed);

  EXPECT_EQ(all.requests.size(), 5U);
  EXPECT_EQ(all.last.failure, "f: I/O error");
}

}  // namespace
}  // namespace sticky::coordinator
