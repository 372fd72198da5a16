#include "sticky/worker/options.hpp"

#include <limits>
#include <type_traits>

#include "sticky/base/error.hpp"

namespace sticky::worker {

namespace {

// Every field is named once, here: `visit(name, field)` writes it to JSON or reads it from there.
template <class Visitor, class State>
void visit_state(Visitor& visit, State& state) {
  visit("state.name", state.name);
  visit("state.model", state.model);
  visit("state.serves", state.serves);
  visit("state.dtype", state.dtype);
  visit("state.kv_dtype", state.kv_dtype);
  visit("state.context", state.context);
  visit("state.memory", state.memory);
}

template <class Visitor, class Sampling>
void visit_sampling(Visitor& visit, Sampling& sampling) {
  visit("sampling.temperature", sampling.temperature);
  visit("sampling.top_p", sampling.top_p);
  visit("sampling.top_k", sampling.top_k);
  visit("sampling.min_p", sampling.min_p);
  visit("sampling.repetition_penalty", sampling.repetition_penalty);
  visit("sampling.presence_penalty", sampling.presence_penalty);
  visit("sampling.frequency_penalty", sampling.frequency_penalty);
  visit("sampling.seed", sampling.seed);
  visit("sampling.max_tokens", sampling.max_tokens);
  visit("sampling.min_tokens", sampling.min_tokens);
  visit("sampling.ignore_eos", sampling.ignore_eos);
  visit("sampling.stop", sampling.stop);
  visit("sampling.stop_token_ids", sampling.stop_token_ids);
  visit("sampling.include_stop_str_in_output", sampling.include_stop_str_in_output);
}

template <class Visitor, class AnyOptions>
void visit_options(Visitor& visit, AnyOptions& options) {
  visit_state(visit, options.state);
  visit("chat.template_file", options.chat.template_file);
  visit("chat.content", options.chat.content);
  visit("chat.special_tokens_in_content", options.chat.special_tokens_in_content);
  visit("chat.now", options.chat.now);
  visit_sampling(visit, options.sampling);
  visit("check_model", options.check_model);
  visit("backend.kind", options.backend.kind);
  visit("backend.dtype", options.backend.dtype);
  visit("backend.cpu", options.backend.cpu);
  visit("backend.n_threads", options.backend.n_threads);
  visit("engine.max_sequences", options.engine.max_sequences);
  visit("engine.max_batch_tokens", options.engine.max_batch_tokens);
  visit("engine.prefix_cache", options.engine.prefix_cache);
  visit("engine.run_seed", options.engine.run_seed);
  visit("orphan_timeout_seconds", options.orphan_timeout_seconds);
}

class Writer {
 public:
  void operator()(const char* name, const std::vector<std::string>& value) {
    json_.set(name, Json::Array(value.begin(), value.end()));
  }
  void operator()(const char* name, const std::vector<i32>& value) {
    json_.set(name, Json::Array(value.begin(), value.end()));
  }
  void operator()(const char* name, const std::optional<i64>& value) {
    json_.set(name, value ? Json(*value) : Json());
  }
  void operator()(const char* name, std::uint64_t value) {
    json_.set(name, static_cast<i64>(value));
  }
  template <class T>
  void operator()(const char* name, const T& value) {
    json_.set(name, value);
  }
  Json take() { return std::move(json_); }

 private:
  Json json_ = Json::object();
};

class Reader {
 public:
  explicit Reader(const Json& json) : json_(&json) {}

  void operator()(const char* name, std::string& value) {
    value = field(name, &Json::is_string, "a string").as_string();
  }
  void operator()(const char* name, bool& value) {
    value = field(name, &Json::is_bool, "a boolean").as_bool();
  }
  void operator()(const char* name, i64& value) {
    value = field(name, &Json::is_integer, "an integer").as_integer();
  }
  void operator()(const char* name, double& value) {
    value = field(name, &Json::is_number, "a number").as_double();
  }
  void operator()(const char* name, std::uint64_t& value) {
    value = static_cast<std::uint64_t>(field(name, &Json::is_integer, "an integer").as_integer());
  }
  void operator()(const char* name, std::optional<i64>& value) {
    value.reset();
    if (const Json* found = json_->find(name); found == nullptr || !found->is_null())
      value = field(name, &Json::is_integer, "an integer or null").as_integer();
  }
  void operator()(const char* name, std::vector<std::string>& value) {
    value.clear();
    for (const Json& element : field(name, &Json::is_array, "an array of strings").as_array()) {
      if (!element.is_string())
        fail<FormatError>("worker options: {} holds {}, expected strings", name,
                          element.kind_name());
      value.push_back(element.as_string());
    }
  }
  void operator()(const char* name, std::vector<i32>& value) {
    value.clear();
    for (const Json& element : field(name, &Json::is_array, "an array of token ids").as_array()) {
      if (!element.is_integer() || element.as_integer() < 0 ||
          element.as_integer() > std::numeric_limits<i32>::max())
        fail<FormatError>("worker options: {} holds {}, expected token ids", name, element.dump());
      value.push_back(static_cast<i32>(element.as_integer()));
    }
  }

 private:
  const Json& field(const char* name, bool (Json::*is_right)() const, const char* expected) const {
    const Json* found = json_->find(name);
    if (found == nullptr) fail<FormatError>("worker options: {} is missing", name);
    if (!(found->*is_right)())
      fail<FormatError>("worker options: {} is {}, expected {}", name, found->kind_name(),
                        expected);
    return *found;
  }
  const Json* json_;
};

}  // namespace

Json to_json(const Options& options) {
  Writer writer;
  visit_options(writer, options);
  return writer.take();
}

Options options_from_json(const Json& json) {
  Options options;
  Reader reader(json);
  visit_options(reader, options);
  return options;
}

}  // namespace sticky::worker
