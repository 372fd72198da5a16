#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sticky/request/response.hpp"

#include "record_parts.hpp"

namespace sticky::request {

std::string record_digits(const Origin& origin) {
  return hash128(fmt::format("{}\n{}\n{}\n{}", origin.custom_id, origin.file, origin.line,
                             origin.hash.hex()))
      .hex();
}

Json string_or_null(std::string_view text) {
  return text.empty() ? Json() : Json(text);
}

Json sticky_part(const Origin& origin, bool has_timings) {
  Json out = Json::object({{"file", origin.file},
                           {"line", origin.line},
                           {"hash", origin.hash.hex()},
                           {"state", string_or_null(origin.state)},
                           {"arithmetic", string_or_null(origin.arithmetic)},
                           {"worker", origin.worker},
                           {"attempts", origin.attempts}});
  if (has_timings)
    out.set("timings", Json::object({{"queued_seconds", origin.queued_seconds},
                                     {"prefill_seconds", origin.prefill_seconds},
                                     {"decode_seconds", origin.decode_seconds}}));
  return out;
}

std::string error_record(const RequestError& error,
                         const Origin& origin,
                         const Json& row,
                         int status_code) {
  constexpr int kFirstServerFault = 500;
  const std::string digits = record_digits(origin);
  Json response;
  if (status_code != 0) {
    const char* type = status_code < kFirstServerFault ? "invalid_request_error" : "server_error";
    const Json body = Json::object({{"error", Json::object({{"message", error.message},
                                                            {"type", type},
                                                            {"param", string_or_null(error.param)},
                                                            {"code", error.code}})}});
    response = Json::object(
        {{"status_code", status_code}, {"request_id", "req_" + digits}, {"body", body}});
  }
  Json record = Json::object({{"id", "batch_req_" + digits},
                              {"custom_id", origin.custom_id},
                              {"response", std::move(response)},
                              {"error", Json::object({{"code", error.code},
                                                      {"message", error.message},
                                                      {"param", string_or_null(error.param)},
                                                      {"file", origin.file},
                                                      {"line", origin.line},
                                                      {"byte_offset", origin.byte_offset}})},
                              {"sticky", sticky_part(origin, false)}});
  if (!row.is_null()) record.set("row", row);
  return record.dump();
}

int status_code_of(std::string_view code) {
  constexpr std::array<std::string_view, 7> kRequestFaults = {
      "invalid_json_line", "line_too_long",           "duplicate_custom_id", "invalid_request",
      "url_mismatch",      "context_length_exceeded", "model_mismatch"};
  constexpr int kBadRequest = 400;
  constexpr int kServerError = 500;
  return std::ranges::find(kRequestFaults, code) != kRequestFaults.end() ? kBadRequest
                                                                         : kServerError;
}

}  // namespace sticky::request
