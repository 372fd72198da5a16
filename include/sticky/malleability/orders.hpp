#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "sticky/base/json.hpp"
#include "sticky/base/types.hpp"
#include "sticky/malleability/host.hpp"

namespace sticky::malleability {

// What a user may order of a run that goes on: `stickyinvoc resize`.
struct SetWorkers {
  i64 n = 1;
  bool operator==(const SetWorkers&) const = default;
};
struct AddHost {
  Host host;  ///< with so many more workers
  bool operator==(const AddHost&) const = default;
};
struct DrainHost {
  std::string host;
  bool operator==(const DrainHost&) const = default;
};
using Order = std::variant<SetWorkers, AddHost, DrainHost>;

inline constexpr i64 kMostWorkers = 1'000'000;

/// As it is typed: "--workers 4", "--add node7:2", "--drain node7".
[[nodiscard]] std::string text_of(const Order& order);

// The form of an order's file: {"version":1,"order":"set_workers","workers":4},
// {…"order":"add_host","host":"node7","slots":2} or {…"order":"drain_host","host":"node7"}.
[[nodiscard]] Json to_json(const Order& order);
/// FormatError names what is wrong; nothing may be missing, unknown or out of range.
[[nodiscard]] Order order_of(const Json& json);

/// Puts an order into RUN_DIR/orders, a folder of mode 0700 that is made when it is missing: a file
/// of mode 0600 under a name of its own, complete when it appears. The id by which the run's
/// status.json tells of it. SystemError when that cannot be done.
std::string write_order(const std::string& run_dir, const Order& order);

/// Takes an order back that nobody has taken so far: false when it is gone already.
bool withdraw_order(const std::string& run_dir, const std::string& id);

/// An order that was found, with the id that write_order() gave.
struct Ordered {
  std::string id;
  Order order;
  bool operator==(const Ordered&) const = default;
};

/// The orders folder of a run, seen by the run's coordinator. Whoever may write a file there steers
/// the run, so only the files of this user, which nobody else can reach, are read. All others are
/// removed with a warning: another user's, one that group or others can access, one with a second
/// name (hard link), links, folders, FIFOs and devices, files above 4 KiB, and what is no order. No
/// link is followed and nothing that is there can make this wait.
///
/// A folder that is itself a link, another user's, or open to group or others: one warning, no
/// orders. One that is removed while the run goes on is made again, one that takes its place is
/// read from then on.
class OrderBox {
 public:
  /// Makes the folder when it is missing and throws away what an earlier run of this folder left
  /// there, with a warning. SystemError when the folder cannot be made.
  explicit OrderBox(const std::string& run_dir);
  OrderBox(const OrderBox&) = delete;
  OrderBox& operator=(const OrderBox&) = delete;
  ~OrderBox();

  /// The orders that came since, in the order in which they were written; their files are gone. At
  /// most 256 a call.
  [[nodiscard]] std::vector<Ordered> take();

 private:
  class Folder;
  std::unique_ptr<Folder> folder_;
};

}  // namespace sticky::malleability
