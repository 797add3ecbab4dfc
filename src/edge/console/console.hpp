// The console: pages for operators, and the JSON API behind them. For a listener that clients
// cannot reach. docs/console.md says what people see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "edge/console/history.hpp"
#include "edge/console/mismatch_log.hpp"
#include "edge/console/sessions.hpp"
#include "edge/server/handler.hpp"
#include "edge/server/security_event.hpp"
#include "http/result_form.hpp"
#include "semel/base/runtime.hpp"
#include "semel/core/policy.hpp"
#include "semel/http/problem.hpp"
#include "semel/http/tenant.hpp"
#include "semel/outbox/table.hpp"
#include "semel/store.hpp"

namespace semel::edge {

// What an operator's verdict about a record of this operation needs to know.
struct console_operation {
    http::result_form holds = http::result_form::unknown;
    duration retention = operation_policy{}.retention;
    duration failure_retention = operation_policy{}.failure_retention;
};

struct console_options {
    // Who a token is, and who the token with this hash is. Called on the request's path: must not
    // block.
    std::function<std::optional<http::grant>(std::string_view token)> grant_of = {};
    std::function<std::optional<http::grant>(const fingerprint& hash)> grant_of_hash = {};
    std::function<console_numbers()> numbers = {};            // from any thread; must not block
    std::map<std::string, console_operation> operations = {}; // others have the defaults
    std::string configuration = {};                           // as shown; without secrets
    std::string version = {};
    std::string store = {};           // what kind it is
    outbox::table_opener outbox = {}; // none: there is no outbox
    semel::limits limits = {};
    http::problem_options problems = {};
    edge::sessions::limits sessions = {};
    // Cookies go over TLS only, and only to this host.
    enum class cookies : std::uint8_t { plain, secure } cookie = cookies::plain;
    // 32 bytes under which cursors are sealed, the same on all instances that take each other's.
    // None: random ones.
    std::function<std::string()> cursor_secret = {};
    security_watch watch = {}; // may be empty
    duration sample_every = std::chrono::seconds{2};
    std::size_t samples_max = 300;
    std::shared_ptr<const mismatch_log> mismatches = {}; // shared with those who add to it
};

class console_core;

// Thread-safe. The store and the runtime outlive it. The destructor stays until everything that was
// asked of them has been answered.
//
// GET /                    the pages; GET /assets/… what they are made of
// …   /admin/api/v1/…      their API: by a session's cookie, or by a bearer token for programs
class console {
public:
    console(store& records, runtime& timers, console_options options);
    ~console();

    // For servers. Both work as long as the console does. The doorkeeper takes a body larger than
    // that of a sign-in only from callers who may change something.
    [[nodiscard]] handler requests();
    [[nodiscard]] doorkeeper door();

private:
    std::shared_ptr<console_core> core_; // shared with requests under way
};

} // namespace semel::edge
