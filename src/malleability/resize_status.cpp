#include "sticky/malleability/resize_status.hpp"

#include <utility>

namespace sticky::malleability {

void ResizeStatus::add(Verdict verdict) {
  orders.push_back(std::move(verdict));
  if (orders.size() > kOrders) orders.pop_front();
}

Json to_json(const ResizeStatus& status) {
  Json orders = Json::array();
  for (const Verdict& verdict : status.orders)
    orders.push_back(Json::object({{"id", verdict.id},
                                   {"order", verdict.text},
                                   {"accepted", verdict.is_accepted},
                                   {"reason", verdict.reason}}));
  return Json::object({{"target", status.target},
                       {"joining", status.n_joining},
                       {"can_spawn", status.can_spawn},
                       {"why_not", status.why_not},
                       {"doing", status.doing},
                       {"orders", std::move(orders)}});
}

}  // namespace sticky::malleability
