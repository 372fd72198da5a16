#include "sticky/malleability/orders.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "sticky/base/error.hpp"

namespace sticky::malleability {
namespace {

constexpr i64 kVersion = 1;

template <class... Ts>
struct Overload : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overload(Ts...) -> Overload<Ts...>;

i64 integer_of(const Json& json, std::string_view name, i64 min, i64 max) {
  const Json* value = json.find(name);
  if (value == nullptr) fail<FormatError>("\"{}\" is missing", name);
  if (!value->is_integer())
    fail<FormatError>("\"{}\" is {}, not an integer", name, value->kind_name());
  if (value->as_integer() < min || value->as_integer() > max)
    fail<FormatError>("\"{}\" is {}, not between {} and {}", name, value->as_integer(), min, max);
  return value->as_integer();
}

std::string text_of(const Json& json, std::string_view name) {
  const Json* value = json.find(name);
  if (value == nullptr) fail<FormatError>("\"{}\" is missing", name);
  if (!value->is_string())
    fail<FormatError>("\"{}\" is {}, not a string", name, value->kind_name());
  return value->as_string();
}

std::string host_of(const Json& json) {
  std::string host = text_of(json, "host");
  if (!is_host_name(host)) fail<FormatError>("\"host\" is no host name");
  return host;
}

void expect_members(const Json& json, std::initializer_list<std::string_view> names) {
  for (const Json::Member& member : json.as_object()) {
    if (std::find(names.begin(), names.end(), member.name) == names.end())
      fail<FormatError>("\"{}\" is no part of this order", member.name);
  }
}

}  // namespace

std::string text_of(const Order& order) {
  return std::visit(Overload{[](const SetWorkers& o) { return fmt::format("--workers {}", o.n); },
                             [](const AddHost& o) {
                               return fmt::format("--add {}:{}", o.host.name, o.host.n_slots);
                             },
                             [](const DrainHost& o) { return fmt::format("--drain {}", o.host); }},
                    order);
}

Json to_json(const Order& order) {
  Json json = Json::object({{"version", kVersion}});
  std::visit(Overload{[&](const SetWorkers& o) {
                        json.set("order", "set_workers");
                        json.set("workers", o.n);
                      },
                      [&](const AddHost& o) {
                        json.set("order", "add_host");
                        json.set("host", o.host.name);
                        json.set("slots", o.host.n_slots);
                      },
                      [&](const DrainHost& o) {
                        json.set("order", "drain_host");
                        json.set("host", o.host);
                      }},
             order);
  return json;
}

Order order_of(const Json& json) {
  if (!json.is_object()) fail<FormatError>("it is {}, not an object", json.kind_name());
  (void)integer_of(json, "version", kVersion, kVersion);
  const std::string kind = text_of(json, "order");
  if (kind == "set_workers") {
    expect_members(json, {"version", "order", "workers"});
    return SetWorkers{integer_of(json, "workers", 1, kMostWorkers)};
  }
  if (kind == "add_host") {
    expect_members(json, {"version", "order", "host", "slots"});
    return AddHost{{.name = host_of(json), .n_slots = integer_of(json, "slots", 1, kMostSlots)}};
  }
  if (kind == "drain_host") {
    expect_members(json, {"version", "order", "host"});
    return DrainHost{host_of(json)};
  }
  fail<FormatError>("\"order\" is none of set_workers, add_host, drain_host");
}

}  // namespace sticky::malleability
