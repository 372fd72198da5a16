#include "line_form.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "parameters.hpp"

namespace sticky::request {

namespace {

std::string_view id_name(const Json& line) {
  return line.find("custom_id") != nullptr ? "custom_id" : "id";
}

void append_canonical(std::string& out, const Json& value);

void append_canonical_members(std::string& out, std::vector<const Json::Member*> members) {
  std::ranges::sort(members, {}, &Json::Member::name);
  out += '{';
  for (const auto* member : members) {
    if (member != members.front()) out += ',';
    append_json_string(out, member->name);
    out += ':';
    append_canonical(out, member->value);
  }
  out += '}';
}

// Depth is bounded by the parser's limit.
void append_canonical(std::string& out, const Json& value) {
  if (value.is_object()) {
    std::vector<const Json::Member*> members;
    for (const auto& member : value.as_object())
      members.push_back(&member);
    append_canonical_members(out, std::move(members));
  } else if (value.is_array()) {
    out += '[';
    for (const auto& element : value.as_array()) {
      if (&element != &value.as_array().front()) out += ',';
      append_canonical(out, element);
    }
    out += ']';
  } else {
    value.dump_to(out);
  }
}

std::string canonical_body(const Json::Object& body,
                           bool is_shorthand,
                           std::string_view url,
                           std::string_view method) {
  std::vector<const Json::Member*> members;
  for (const auto& member : body) {
    const Parameter* p = find_parameter(member.name);
    if (member.value.is_null() || (p != nullptr && p->use == Use::ignored)) continue;
    if (is_shorthand && (p == nullptr || !p->shorthand)) continue;
    members.push_back(&member);
  }
  constexpr std::size_t kUsualBytes = 1024;
  std::string out;
  out.reserve(kUsualBytes);
  out += "{\"body\":";
  append_canonical_members(out, std::move(members));
  out += ",\"method\":";
  out += method;
  out += ",\"url\":";
  out += url;
  out += '}';
  return out;
}

std::string dump_or_null(const Json* value) {
  return value != nullptr ? value->dump() : "null";
}

}  // namespace

bool is_batch_line(const Json& line) {
  const Json* body = line.find("body");
  if (given(line, "prompt") != nullptr || given(line, "messages") != nullptr)
    return body != nullptr && body->is_object() && line.find("url") != nullptr;
  return body != nullptr || (line.find("url") != nullptr && line.find("method") != nullptr);
}

std::optional<Endpoint> shorthand_endpoint(const Json& line) {
  const bool has_prompt = given(line, "prompt") != nullptr;
  const bool has_messages = given(line, "messages") != nullptr;
  if (has_prompt == has_messages) return std::nullopt;
  return has_prompt ? Endpoint::completions : Endpoint::chat;
}

bool is_column(const Json& line, bool is_batch, std::string_view name) {
  if (name == id_name(line)) return false;
  if (is_batch) return name != "method" && name != "url" && name != "body";
  const Parameter* p = find_parameter(name);
  return p == nullptr || !p->shorthand;
}

std::optional<std::string> id_of(const Json& line) {
  const Json* id = line.find(id_name(line));
  if (id == nullptr || !id->is_string() || id->as_string().empty()) return std::nullopt;
  return id->as_string();
}

std::optional<std::string> model_of(const Json& line) {
  const Json* body = is_batch_line(line) ? line.find("body") : &line;
  const Json* model = body != nullptr ? body->find("model") : nullptr;
  if (model == nullptr || !model->is_string() || model->as_string().empty()) return std::nullopt;
  return model->as_string();
}

Json row_of(const Json& line) {
  Json row;
  if (!line.is_object()) return row;
  const bool is_batch = is_batch_line(line);
  for (const auto& [name, value] : line.as_object())
    if (is_column(line, is_batch, name)) {
      if (row.is_null()) row = Json::Object{};
      row.as_object().push_back({name, value});
    }
  return row;
}

std::string canonical_request(const Json& line) {
  if (is_batch_line(line)) {
    const Json* body = line.find("body");
    const std::string url = dump_or_null(line.find("url"));
    const std::string method = dump_or_null(line.find("method"));
    if (body != nullptr && body->is_object())
      return canonical_body(body->as_object(), false, url, method);
    return "{\"body\":" + dump_or_null(body) + ",\"method\":" + method + ",\"url\":" + url + "}";
  }
  if (!line.is_object()) return line.dump();
  const auto endpoint = shorthand_endpoint(line);
  std::string url;
  append_json_string(url, !endpoint                     ? std::string_view()
                          : *endpoint == Endpoint::chat ? kChatUrl
                                                        : kCompletionsUrl);
  return canonical_body(line.as_object(), true, url, "\"POST\"");
}

}  // namespace sticky::request
