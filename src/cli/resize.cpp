#include "resize.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <pwd.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "sticky/base/error.hpp"

#include "json_fields.hpp"
#include "lock_view.hpp"
#include "run_files.hpp"

namespace sticky::cli {
namespace {

using malleability::Order;

constexpr int kRefused = 1;

void expect_run(const std::string& run_dir) {
  const auto lock = lock_of(run_dir);
  if (lock && lock->is_in_use) return;
  std::error_code ignored;
  if (std::filesystem::exists(run_dir + "/summary.json", ignored))
    fail<ConfigError>("{}: the run has ended; stickyinvoc status {} tells how", run_dir, run_dir);
  if (shows_run(run_dir))
    fail<ConfigError>("{}: no coordinator is at work here: the run was cut short. Go on with: {}",
                      run_dir, resume_line(run_dir));
  fail<ConfigError>("{} holds no run", run_dir);
}

std::string user_name(uid_t user) {
  const passwd* entry = getpwuid(user);
  return entry == nullptr ? fmt::format("user {}", user) : std::string(entry->pw_name);
}

// A run takes orders from its own user only, root's not either.
void expect_own(const std::string& run_dir) {
  struct stat status {};
  if (lstat((run_dir + "/orders").c_str(), &status) != 0 &&
      lstat((run_dir + "/lock").c_str(), &status) != 0)
    return;
  if (status.st_uid != geteuid())
    fail<ConfigError>(
        "{}: this run belongs to {}, from whom alone it takes orders, and not from {}", run_dir,
        user_name(status.st_uid), user_name(geteuid()));
}

// What the run says of an order; nothing so far.
std::optional<Json> answer_to(const std::string& id, const std::string& run_dir) {
  const auto status = read_status(run_dir);
  const Json* resize = status ? status->find("resize") : nullptr;
  if (resize == nullptr) return std::nullopt;
  for (const Json& order : array_at(*resize, "orders")) {
    if (text_at(order, "id") == id) return order;
  }
  return std::nullopt;
}

struct Given {
  std::string id;
  std::string text;
  bool is_answered = false;
  bool is_accepted = false;
};

void listen(Given& given, const std::string& run_dir) {
  const auto answer = answer_to(given.id, run_dir);
  if (!answer) return;
  given.is_answered = true;
  given.is_accepted = boolean_at(*answer, "accepted");
  fmt::print("{}: {}: {}\n", given.text, given.is_accepted ? "accepted" : "refused",
             text_at(*answer, "reason"));
}

void give_up(const Given& given, const std::string& run_dir) {
  const bool is_withdrawn = malleability::withdraw_order(run_dir, given.id);
  const auto lock = lock_of(run_dir);
  if (!lock || !lock->is_in_use)
    fmt::print("{}: the run has ended\n", given.text);
  else if (is_withdrawn)
    fmt::print("{}: the run did not take the order, which is withdrawn\n", given.text);
  else
    fmt::print("{}: the run took the order and has not said yet what it does; see {}/run.log\n",
               given.text, run_dir);
}

}  // namespace

std::vector<Order> orders_of(const ResizeFlags& flags) {
  std::vector<Order> orders;
  if (flags.n_workers > 0) orders.emplace_back(malleability::SetWorkers{flags.n_workers});
  try {
    for (const std::string& host : flags.adds)
      orders.emplace_back(malleability::AddHost{malleability::parse_host(host)});
  } catch (const FormatError& error) {
    fail<ConfigError>("--add: {}", error.what());
  }
  for (const std::string& host : flags.drains) {
    if (!malleability::is_host_name(host))
      fail<ConfigError>("--drain: \"{}\" is no host name", host);
    orders.emplace_back(malleability::DrainHost{host});
  }
  return orders;
}

int give_orders(const std::string& run_dir,
                const std::vector<Order>& orders,
                const std::function<bool()>& pause) {
  expect_run(run_dir);
  expect_own(run_dir);
  std::vector<Given> all;
  for (const Order& order : orders)
    all.push_back(
        {.id = malleability::write_order(run_dir, order), .text = malleability::text_of(order)});
  const auto is_waiting = [&] {
    return std::ranges::any_of(all, [](const Given& given) { return !given.is_answered; });
  };
  while (is_waiting() && pause()) {
    for (Given& given : all) {
      if (!given.is_answered) listen(given, run_dir);
    }
  }
  for (Given& given : all) {
    if (!given.is_answered) listen(given, run_dir);  // its last words
    if (!given.is_answered) give_up(given, run_dir);
  }
  return std::ranges::all_of(all, &Given::is_accepted) ? 0 : kRefused;
}

int resize(const ResizeFlags& flags) {
  constexpr std::chrono::milliseconds kBetween{100};
  constexpr std::chrono::seconds kPatience{15};
  const auto end = std::chrono::steady_clock::now() + kPatience;
  return give_orders(flags.run_dir, orders_of(flags), [&] {
    const auto lock = lock_of(flags.run_dir);
    if (!lock || !lock->is_in_use || std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kBetween);
    return true;
  });
}

}  // namespace sticky::cli
