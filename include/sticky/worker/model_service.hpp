#pragma once

#include <memory>

#include "sticky/base/clock.hpp"
#include "sticky/base/ids.hpp"
#include "sticky/worker/options.hpp"
#include "sticky/worker/service.hpp"

namespace sticky::worker {

/// The service of a transformer: load() reads the model of options.state into the device's memory,
/// once; every invocation then inherits it. `clock` outlives the service.
[[nodiscard]] std::unique_ptr<Service> make_model_service(const Options& options,
                                                          WorkerId worker,
                                                          const Clock& clock);

}  // namespace sticky::worker
