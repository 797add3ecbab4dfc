// Probes that ask a service over HTTP, and the rules of the reconciler made from the configuration.
#pragma once

#include <memory>
#include <string>

#include "config/config.hpp"
#include "edge/gateway/options.hpp"
#include "semel/base/result.hpp"
#include "semel/operations.hpp"

namespace semel::app {

// For operations of the gateway: the upstream is asked as the gateway itself does it, and its
// answer is kept as the route would have kept it. Empty without probes.
[[nodiscard]] result<std::map<std::string, reconcile_rule>>
rules_of(const edge::gateway_options& gateway, const reconcile_rule& defaults);

// For everything the configuration names. Times of their own for those that have some.
[[nodiscard]] result<reconciler_options> reconciler_options_of(const config::config& from);

} // namespace semel::app
