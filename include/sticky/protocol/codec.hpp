#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sticky/base/bytes.hpp"
#include "sticky/protocol/message.hpp"

// Messages as bytes: kVersion (32 bits), kind (8 bits, the place in Message), then the fields in
// the order of the struct. Numbers are little-endian, strings and lists carry a 64-bit length.
namespace sticky::protocol {

/// decode(encode(m)) == m. decode throws FormatError on bytes of another version, of an unknown
/// kind, too short, too long, or with a length that cannot be.
[[nodiscard]] std::string encode(const Message& message);
[[nodiscard]] Message decode(std::string_view bytes);

/// Invocations one behind another, as the coordinator keeps them while they wait or run: encoded
/// once, copied into every message that they travel in. `attempt` and `progress` are not part of
/// them.
class EncodedInvocations {
 public:
  struct Place {
    InvocationId id;
    std::uint32_t begin = 0;  ///< in bytes()
    std::uint32_t n_bytes = 0;
  };
  EncodedInvocations() = default;
  /// At most 4 GiB in all.
  explicit EncodedInvocations(std::span<const Invocation> invocations);
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::string take_bytes() { return std::move(bytes_); }

 private:
  std::string bytes_;
  std::vector<Place> places_;
};
/// One of them; `attempt` is 1, without progress.
[[nodiscard]] Invocation decode_invocation(std::string_view bytes);
/// What another worker has made of it, to be sent with it.
[[nodiscard]] std::string encode_progress(const Progress& progress);

/// Writes a RunInvocations out of invocations that are encoded already: the same bytes as
/// encode(RunInvocations{…}).
class RunInvocationsWriter {
 public:
  /// `n`: how many will be added, exactly; `n_bytes`: of them all, for the memory.
  RunInvocationsWriter(i64 n, i64 n_bytes);
  /// `encoded_progress`: empty for none.
  void add(std::string_view encoded_invocation,
           i64 attempt,
           std::string_view encoded_progress = {});
  [[nodiscard]] std::string take() { return out_.take(); }

 private:
  ByteWriter out_;
};

}  // namespace sticky::protocol
