// What is not wrong, and still better changed: said once, when a server starts.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "semel/http/route.hpp"

namespace semel::app {

// A sentence each. Looks at files, and never shows a secret.
[[nodiscard]] std::vector<std::string> start_advice(const config::config& of);

// A password in this URL that goes over a network in plain; empty: none does. `what` names the URL.
[[nodiscard]] std::string plain_password(const std::string& what, const std::string& url);

// Names routes whose answers go to every client that sends the key, without a decision that they
// may; empty: there are none.
[[nodiscard]] std::string open_answers(const http::tenant_source& tenants,
                                       const std::vector<http::route>& routes);

// No core dump of this process, which holds keys.
void forbid_core_dumps();

} // namespace semel::app
