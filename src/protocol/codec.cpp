#include "sticky/protocol/codec.hpp"

#include <algorithm>
#include <concepts>
#include <limits>
#include <type_traits>
#include <utility>

#include "sticky/base/check.hpp"
#include "sticky/base/error.hpp"

namespace sticky::protocol {

namespace {

template <class M, class T>
concept Is = std::same_as<std::remove_const_t<M>, T>;

// One list of fields a struct, walked by the writer and by the reader: the two cannot disagree.
template <class A, Is<Progress> M>
void fields(A& a, M& m) {
  a(m.arithmetic, m.answers);
}
// Attempt and progress come first and are not kept with an encoded invocation: each message brings
// its own.
template <class A, Is<Invocation> M>
void kept_fields(A& a, M& m) {
  a(m.id, m.custom_id, m.file, m.line, m.byte_offset, m.hash, m.payload);
}
template <class A, Is<Invocation> M>
void fields(A& a, M& m) {
  a(m.attempt, m.progress);
  kept_fields(a, m);
}
template <class A, Is<Result> M>
void fields(A& a, M& m) {
  a(m.id, m.is_error, m.record, m.prompt_tokens, m.completion_tokens);
}
template <class A, Is<Hello> M>
void fields(A& a, M& m) {
  a(m.version, m.host, m.pid, m.start_ticks, m.pid_namespace, m.device);
}
template <class A, Is<StateReady> M>
void fields(A& a, M& m) {
  a(m.slots, m.arithmetic, m.load_seconds, m.description);
}
template <class A, Is<StateFailed> M>
void fields(A& a, M& m) {
  a(m.reason);
}
template <class A, Is<Results> M>
void fields(A& a, M& m) {
  a(m.results);
}
template <class A, Is<Heartbeat> M>
void fields(A& a, M& m) {
  a(m.n_steps, m.n_held, m.is_loading);
}
template <class A, Is<Unfinished> M>
void fields(A& a, M& m) {
  a(m.id, m.answers);
}
template <class A, Is<HandBack> M>
void fields(A& a, M& m) {
  a(m.reason, m.arithmetic, m.invocations);
}
template <class A, Is<Bye> M>
void fields(A& a, M& m) {
  a(m.reason);
}
template <class A, Is<Welcome> M>
void fields(A& a, M& m) {
  a(m.worker, m.options_json);
}
template <class A, Is<RunInvocations> M>
void fields(A& a, M& m) {
  a(m.invocations);
}
template <class A, Is<Leave> M>
void fields(A& a, M& m) {
  a(m.now);
}
template <class A, Is<Beat> M>
void fields(A&, M&) {}
template <class A, Is<Farewell> M>
void fields(A& a, M& m) {
  a(m.may_finalize);
}
template <class A, Is<Fence> M>
void fields(A& a, M& m) {
  a(m.pid, m.start_ticks);
}
template <class A, Is<TakeBack> M>
void fields(A& a, M& m) {
  a(m.ids);
}

class Writer {
 public:
  explicit Writer(ByteWriter& out) : out_(out) {}
  template <class... Ts>
  void operator()(const Ts&... values) {
    (write(values), ...);
  }

 private:
  template <class T>
  requires std::is_arithmetic_v<T>
  void write(T value) {
    if constexpr (std::same_as<T, bool>)
      out_.number(static_cast<std::uint8_t>(value));
    else
      out_.number(value);
  }
  void write(const std::string& text) { out_.string(text); }
  void write(HandBack::Reason reason) { out_.number(static_cast<std::uint8_t>(reason)); }
  template <class T>
  void write(const std::optional<T>& value) {
    write(value.has_value());
    if (value) fields(*this, *value);
  }
  void write(const Hash128& hash) { (*this)(hash.high, hash.low); }
  template <class Tag>
  void write(const Id<Tag>& id) {
    out_.number(id.value);
  }
  template <class T>
  void write(const std::vector<T>& list) {
    out_.number(static_cast<i64>(list.size()));
    for (const T& element : list) {
      if constexpr (requires { fields(*this, element); })
        fields(*this, element);
      else
        write(element);
    }
  }
  ByteWriter& out_;
};

class Reader {
 public:
  explicit Reader(ByteReader& in) : in_(in) {}
  template <class... Ts>
  void operator()(Ts&... values) {
    (read(values), ...);
  }

 private:
  template <class T>
  requires std::is_arithmetic_v<T>
  void read(T& value) {
    if constexpr (std::same_as<T, bool>) {
      const auto byte = in_.number<std::uint8_t>();
      if (byte > 1) fail<FormatError>("message: a truth value is {}", byte);
      value = byte == 1;
    } else {
      value = in_.number<T>();
    }
  }
  void read(std::string& text) { text = in_.string(); }
  void read(HandBack::Reason& reason) {
    const auto byte = in_.number<std::uint8_t>();
    if (byte > static_cast<std::uint8_t>(HandBack::Reason::refused))
      fail<FormatError>("message: unknown reason {} of a hand-back", byte);
    reason = static_cast<HandBack::Reason>(byte);
  }
  template <class T>
  void read(std::optional<T>& value) {
    bool has_value = false;
    read(has_value);
    if (has_value) fields(*this, value.emplace());
  }
  void read(Hash128& hash) { (*this)(hash.high, hash.low); }
  template <class Tag>
  void read(Id<Tag>& id) {
    id.value = in_.number<i64>();
  }
  template <class T>
  void read(std::vector<T>& list) {
    // No struct is encoded in fewer than 8 bytes, so a lying count cannot ask for much memory.
    constexpr i64 kMinBytes = std::is_arithmetic_v<T> ? sizeof(T) : 8;
    constexpr i64 kMaxReserved = 4096;
    const i64 n = in_.count(kMinBytes);
    list.reserve(static_cast<std::size_t>(std::min(n, kMaxReserved)));
    for (i64 k = 0; k < n; ++k) {
      T& element = list.emplace_back();
      if constexpr (requires { fields(*this, element); })
        fields(*this, element);
      else
        read(element);
    }
  }
  ByteReader& in_;
};

template <std::size_t... kinds>
Message empty_of_kind(std::size_t kind, std::index_sequence<kinds...>) {
  Message message;
  const bool is_known = ((kind == kinds ? (message.emplace<kinds>(), true) : false) || ...);
  if (!is_known) fail<FormatError>("message: unknown kind {}", kind);
  return message;
}

template <class M>
constexpr std::uint8_t kind_of() {
  return static_cast<std::uint8_t>(Message(M{}).index());
}

void write_head(ByteWriter& out, std::size_t kind) {
  out.number(kVersion);
  out.number(static_cast<std::uint8_t>(kind));
}

}  // namespace

std::string encode(const Message& message) {
  ByteWriter out;
  write_head(out, message.index());
  Writer writer(out);
  std::visit([&](const auto& m) { fields(writer, m); }, message);
  return out.take();
}

Message decode(std::string_view bytes) {
  ByteReader in(bytes, "message");
  const auto version = in.number<i32>();
  if (version != kVersion) {
    fail<FormatError>(
        "message: protocol version {}, but this program speaks {}; do all ranks run the same "
        "binary?",
        version, kVersion);
  }
  const auto kind = in.number<std::uint8_t>();
  Message message = empty_of_kind(kind, std::make_index_sequence<std::variant_size_v<Message>>{});
  Reader reader(in);
  std::visit([&](auto& m) { fields(reader, m); }, message);
  in.expect_end();
  return message;
}

EncodedInvocations::EncodedInvocations(std::span<const Invocation> invocations) {
  constexpr std::size_t kFixedBytes = 8 * sizeof(i64);
  std::size_t n_bytes = 0;
  for (const Invocation& one : invocations)
    n_bytes += kFixedBytes + one.custom_id.size() + one.file.size() + one.payload.size();
  STICKY_CHECK(n_bytes <= std::numeric_limits<std::uint32_t>::max());
  ByteWriter out;
  out.reserve(static_cast<i64>(n_bytes));
  places_.reserve(invocations.size());
  Writer writer(out);
  for (const Invocation& one : invocations) {
    const i64 begin = out.size();
    kept_fields(writer, one);
    places_.push_back({one.id, static_cast<std::uint32_t>(begin),
                       static_cast<std::uint32_t>(out.size() - begin)});
  }
  bytes_ = out.take();
}

Invocation decode_invocation(std::string_view bytes) {
  ByteReader in(bytes, "invocation");
  Reader reader(in);
  Invocation invocation;
  kept_fields(reader, invocation);
  in.expect_end();
  return invocation;
}

std::string encode_progress(const Progress& progress) {
  ByteWriter out;
  Writer writer(out);
  fields(writer, progress);
  return out.take();
}

RunInvocationsWriter::RunInvocationsWriter(i64 n, i64 n_bytes) {
  constexpr i64 kHeadBytes = sizeof kVersion + 1 + sizeof n;
  out_.reserve(kHeadBytes + n * (static_cast<i64>(sizeof n) + 1) + n_bytes);
  write_head(out_, kind_of<RunInvocations>());
  out_.number(n);
}

void RunInvocationsWriter::add(std::string_view encoded_invocation,
                               i64 attempt,
                               std::string_view encoded_progress) {
  out_.number(attempt);
  out_.number(static_cast<std::uint8_t>(!encoded_progress.empty()));
  out_.raw(encoded_progress);
  out_.raw(encoded_invocation);
}

}  // namespace sticky::protocol
