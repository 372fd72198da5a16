#pragma once

#include <string>
#include <string_view>

#include "sticky/base/bytes.hpp"
#include "sticky/protocol/message.hpp"

// Messages as bytes: kVersion (32 bits), kind (8 bits, the place in Message), then the fields in
// the order of the struct. Numbers are little-endian, strings and lists carry a 64-bit length.
namespace sticky::protocol {

/// decode(encode(m)) == m. decode throws FormatError on bytes of another version, of an unknown
/// kind, too short, too long, or with a length that cannot be.
[[nodiscard]] std::string encode(const Message& message);
[[nodiscard]] Message decode(std::string_view bytes);

/// One invocation as the coordinator keeps it while it waits or runs: encoded once, copied into
/// every message that it travels in. `attempt` and `progress` are not part of it.
[[nodiscard]] std::string encode_invocation(const Invocation& invocation);
/// The inverse; `attempt` is 1, without progress.
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
