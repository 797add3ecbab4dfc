// Where the tenant of a request comes from. There is no default: keys of different clients must
// never meet, so a source has to be chosen. Any thread, if the callback is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "semel/base/result.hpp"
#include "semel/fingerprint.hpp"
#include "semel/http/message.hpp"

namespace semel::http {

// Whether the peer of a request may name the tenant. The adapter decides it by the connection's
// address or certificate.
enum class peer_trust : std::uint8_t { untrusted, trusted };

// All requests belong to this tenant.
struct single_tenant {
    std::string name = {};
};

// A proxy that has authenticated the client names the tenant in a header. From other peers the
// header is refused, not ignored: a request that claims a tenant must not go on without one.
struct tenant_header {
    std::string name = "X-Tenant";
};

// A client's bearer token: `Authorization: Bearer <token>`, or the token alone in a header of its
// own, which leaves Authorization to the service. Callbacks run on the request's path: they must
// not block.
struct tenant_token {
    // The tenant of a token that may use its keys, or none (see token_table).
    std::function<std::optional<std::string>(std::string_view token)> tenant_of = {};
    // Is it a token of ours, whatever it may do? None: those that tenant_of knows are.
    std::function<bool(std::string_view token)> is_own = {};
    std::string header = "Authorization";
    // Whether the service gets to see the token. It could act as the client with it.
    enum class forwarding : std::uint8_t { drop, pass } forward = forwarding::drop;
};

using tenant_source = std::variant<std::monostate, single_tenant, tenant_header, tenant_token>;

// invalid_argument if there is no source, or if it lacks its name or callback: refuse to start.
[[nodiscard]] result<void> check(const tenant_source& source);

struct refused_tenant {
    int status = 401;
    std::string detail = {};
    std::string challenge = {}; // WWW-Authenticate, if any
};

// Exactly one line, 1 to 64 bytes of visible ASCII; anything else is refused.
[[nodiscard]] std::variant<std::string, refused_tenant>
tenant_of(const tenant_source& source, const header_list& headers, peer_trust peer);

// For the headers that go on to the service: without a token of ours, unless its source says that
// it goes on.
void drop_own_token(header_list& headers, const tenant_source& source);

// Bearer tokens and their scopes. A token is 256 random bits; only its SHA-256 is kept. Passwords
// need a slow hash with salt; tokens do not: 2^256 tokens cannot be tried, however fast each trial
// is, and no two are alike. A slow hash would only cost every request milliseconds.

enum class scope : std::uint8_t {
    use,     // begin and end attempts, send requests through the gateway
    read,    // look at records
    operate, // look at everything, of any tenant
    admin,   // all that, and settle and remove, for any tenant
};

// "use", "read", "operate", "admin".
[[nodiscard]] std::string_view name(scope which);
[[nodiscard]] std::optional<scope> scope_named(std::string_view name);

class scope_set {
public:
    constexpr scope_set() = default;
    constexpr explicit scope_set(std::initializer_list<scope> all) {
        for (const scope one : all) add(one);
    }
    constexpr void add(scope one) { bits_ |= bit(one); }
    [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
    [[nodiscard]] constexpr bool has(scope one) const { return (bits_ & bit(one)) != 0; }
    // `admin` includes all other scopes, and `operate` includes `read`.
    [[nodiscard]] constexpr bool allows(scope one) const {
        return has(one) || has(scope::admin) || (one == scope::read && has(scope::operate));
    }

    friend constexpr bool operator==(const scope_set&, const scope_set&) = default;

private:
    static constexpr unsigned bit(scope one) { return 1U << static_cast<unsigned>(one); }

    unsigned bits_ = 0;
};

// "use,read". Empty, unknown or repeated ones: invalid_argument.
[[nodiscard]] result<scope_set> parse_scopes(std::string_view text);
[[nodiscard]] std::string to_string(scope_set all);

// What a token gives its bearer.
struct grant {
    std::string tenant = {};
    scope_set may = {};

    friend bool operator==(const grant&, const grant&) = default;
};

// Tokens known by their SHA-256 only. Constant after it was filled: any thread.
class token_table {
public:
    // The hash is that of fingerprint::raw(token). invalid_argument: not a valid tenant, no
    // scope, or a hash that is there already.
    result<void> add(const fingerprint& hash, grant gives);
    // Whole hashes are compared, in a time that does not depend on where they differ.
    [[nodiscard]] std::optional<grant> find(std::string_view token) const;
    // The same for callers that know only the hash.
    [[nodiscard]] std::optional<grant> find(const fingerprint& hash) const;
    [[nodiscard]] std::size_t size() const { return grants_.size(); }
    // A digest of all hashes: equal for equal tables. Only a reader of all hashes can compute it.
    [[nodiscard]] fingerprint digest() const;

private:
    struct entry {
        fingerprint hash;
        grant gives;
    };
    std::multimap<std::uint64_t, entry> grants_; // by the first bytes of the hash
};

// The token of `Authorization: Bearer <token>`; none if there is no such line, or two.
[[nodiscard]] std::optional<std::string_view> bearer_token(const header_list& headers);

// Of records of semel's own, such as the reconciler's claims. No client may be this tenant.
inline constexpr std::string_view reserved_tenant = "semel";

// 1 to 64 bytes of visible ASCII, and not the reserved one.
[[nodiscard]] bool is_tenant_name(std::string_view name);
// Why a name is none, as in "the tenant …"; empty: it is one.
[[nodiscard]] std::string tenant_fault(std::string_view name);

} // namespace semel::http
