#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sticky/malleability/orders.hpp"

#include "commands.hpp"

namespace sticky::cli {

/// What the flags order, in the order --workers, --add, --drain. ConfigError names a bad host.
[[nodiscard]] std::vector<malleability::Order> orders_of(const ResizeFlags& flags);

/// Hands the orders to the run of a folder, waits for its answers in status.json and prints them, a
/// line each. `pause` waits a little; it gives false when there was waiting enough: what nobody has
/// taken by then is taken back. 0: all are accepted, else 1.
[[nodiscard]] int give_orders(const std::string& run_dir,
                              const std::vector<malleability::Order>& orders,
                              const std::function<bool()>& pause);

}  // namespace sticky::cli
