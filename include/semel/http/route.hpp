// Which requests are protected, and how. A gate is built once from options, checked as a whole, and
// constant from then on: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "semel/base/result.hpp"
#include "semel/core/policy.hpp"
#include "semel/fingerprint.hpp"
#include "semel/fingerprint/canonical_json.hpp"
#include "semel/http/key_header.hpp"
#include "semel/http/message.hpp"
#include "semel/http/problem.hpp"
#include "semel/http/response.hpp"
#include "semel/http/tenant.hpp"

namespace semel::http {

// The fingerprint of an HTTP request: method, host, path, query, media type and body. Pure; any
// thread.

struct content_options {
    json_selection json = {}; // which parts of a JSON body count
    number_profile numbers = number_profile::exact_large;
    // Headers that count beside the media type, such as "Stripe-Account". All lines, in order.
    std::vector<std::string> headers = {};
    // Another host is another request, unless several names lead to one service.
    enum class host_counts : std::uint8_t { yes, no } host = host_counts::yes;
    std::string secret = {}; // as in digest_options
};

// The body counts as its Content-Type says:
// - JSON (application/json, anything +json): canonical form, so order and blanks do not matter; a
//   body that is not valid I-JSON counts as its bytes;
// - form data: decoded and sorted;
// - multipart: its parts in order, each with its headers, independent of the boundary; one that is
//   malformed counts as its bytes;
// - anything else, or anything under a Content-Encoding: its bytes.
[[nodiscard]] fingerprint fingerprint_of(const request_head& head, std::string_view body,
                                         const content_options& options = {});

// What a request without a key gets.
enum class key_need : std::uint8_t {
    optional, // passes through unprotected
    required, // 400
    derived,  // a key made from its fingerprint: equal requests are one request
};

// What the upstream gets as Idempotency-Key.
enum class key_forwarding : std::uint8_t {
    same,   // the client's, as sent; the record's where the client sent none
    record, // the record's: the client's, and the principal's digits behind it
    child,  // derived from the record's key and the operation
    none,
};

// What becomes of a request that has none of the values that the route's principal names.
enum class no_principal : std::uint8_t {
    refuse,    // 401
    anonymous, // all such requests are of one principal
};

// What happens while the store cannot be used: it is not reachable, does not answer, is read-only
// or full. If the store is only busy (errc::overloaded), the answer is a 503 in any case.
enum class store_outage : std::uint8_t {
    refuse, // 503
    pass,   // executed without protection; the adapter marks and counts it
};

struct route {
    std::string operation = {}; // part of the record id; of one route only
    // Segments between slashes: text, `*` or `{name}` for any one segment, `**` at the end for any
    // rest. "/orders/*/refunds", "/v1/**". A path fits with or without the parts behind a ';' in
    // its segments.
    std::string path = "/**";
    std::vector<std::string> methods = {"POST", "PATCH"}; // in any case: some services take "post"
    key_need need = key_need::optional;
    key_options keys = {};
    // Whose answer it is: headers ("Authorization") or single cookies ("Cookie:session") whose
    // values are, as 32 digits of an HMAC, part of the record's key. Another value is another
    // principal, and a repeat under it is a new request. "shared" alone says that the clients of a
    // tenant may have each other's answers. Empty: the same without a decision; a gate refuses that
    // where keys are derived and all clients are one tenant.
    std::vector<std::string> principal = {};
    no_principal without_principal = no_principal::refuse;
    profile responses = profile::only_2xx;
    std::vector<status_rule> statuses = {}; // before the profile
    content_options content = {};
    replay_options replay = {};
    duration wait_limit = std::chrono::seconds{30}; // of `Prefer: wait=N`; zero: not honoured
    std::size_t body_bytes_max = std::size_t{8} << 20U;
    key_forwarding forward = key_forwarding::same;
    store_outage outage = store_outage::refuse;
    operation_policy policy = {};
};

// Does the pattern match the path? The path is compared as a server would see it: escapes decoded,
// empty segments skipped, so no other spelling of a protected path slips by.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view path);

inline constexpr std::size_t principal_secret_bytes_min = 16;

struct gate_options {
    std::vector<route> routes = {}; // the first that fits a request is its route; none: pass
    tenant_source tenants = {};
    problem_options problems = {};
    // For the HMAC of principals, of principal_secret_bytes_min or more; the same in all processes
    // that share a store, for as long as their records live. Needed by routes whose principal names
    // values.
    std::string principal_secret = {};
    semel::limits limits = {};
};

// Cheap to copy: copies share one set of routes.
class gate {
public:
    // invalid_argument names the route and what is wrong with it: an operation that is empty, too
    // long or used twice, a bad pattern or method, no key header, limits that contradict each
    // other, a header that is never replayed, a principal that is none or is needed. No tenant
    // source is an error too.
    static result<gate> make(gate_options options);

    // Valid as long as any copy of the gate; null: not protected. A path with a malformed escape
    // has no route; admit() refuses it.
    [[nodiscard]] const route* find(std::string_view method, std::string_view path) const;
    [[nodiscard]] const gate_options& options() const;

    // For engine_options: the routes' policies with the rule that releases a response that is not
    // kept.
    [[nodiscard]] std::map<std::string, operation_policy> operations() const;

private:
    struct rules;
    explicit gate(std::shared_ptr<const rules> checked) : rules_(std::move(checked)) {}

    std::shared_ptr<const rules> rules_; // shared by copies, also those in calls under way
};

} // namespace semel::http
