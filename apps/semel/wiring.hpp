// From the configuration to the options of each part, and to the store. No part is started here.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "config/config.hpp"
#include "config/token_file.hpp"
#include "edge/center/center.hpp"
#include "edge/console/console.hpp"
#include "edge/gateway/options.hpp"
#include "semel/base/result.hpp"
#include "semel/core/metrics.hpp"
#include "semel/engine.hpp"
#include "semel/outbox/table.hpp"
#include "semel/store.hpp"
#include "semel/store/decorators.hpp"

namespace semel::app {

// What the store and its decorators count into. Outlives the store.
struct store_meters {
    store_metrics commands = {};
    store_counters driver = {};
    cache_counters cache = {};
    encryption_counters encryption = {};
};

// The URL of the store with its front.
[[nodiscard]] std::string store_url_of(const config::store_section& with);
// How a relay opens its outbox.
[[nodiscard]] outbox::table_options outbox_options_of(const config::config& with,
                                                      const config::relay_entry& of);
// Of operations that the configuration does not name.
[[nodiscard]] operation_policy default_policy_of(const config::config& from);

// Driver, then measured, then encrypted, then cached: what the configuration asks for.
[[nodiscard]] result<std::unique_ptr<store>> open_store(const config::store_section& with,
                                                        store_meters& meters,
                                                        open_mode mode = open_mode::create);

[[nodiscard]] engine_options engine_options_of(const config::config& from,
                                               std::shared_ptr<logger> log);
[[nodiscard]] edge::gateway_options gateway_options_of(const config::config& from,
                                                       const std::shared_ptr<logger>& log,
                                                       http::tenant_source tenants);
[[nodiscard]] edge::center_options
center_options_of(const config::config& from, std::shared_ptr<const config::live_tokens> tokens);

// The listener of a handler: `listen` is well-formed, the configuration has been checked.
[[nodiscard]] edge::server_options server_options_of(const config::config& from,
                                                     const std::shared_ptr<logger>& log,
                                                     const std::string& listen);
[[nodiscard]] edge::server_options admin_options_of(const config::config& from,
                                                    const std::shared_ptr<logger>& log);

// What verdicts about records need to know of each operation that the configuration names.
[[nodiscard]] std::map<std::string, edge::console_operation>
console_operations_of(const config::config& from);

// What is known before anything runs; the rest is the service's.
[[nodiscard]] edge::console_options
console_options_of(const config::config& from,
                   const std::shared_ptr<const config::live_tokens>& tokens);

[[nodiscard]] http::tenant_source tenants_of(const config::tenants_section& from,
                                             std::shared_ptr<const config::live_tokens> tokens);

} // namespace semel::app
