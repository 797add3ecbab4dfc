#include "http/principal.hpp"

#include <algorithm>
#include <variant>

#include "http/header_rules.hpp"
#include "http/text.hpp"
#include "semel/fingerprint.hpp"

namespace semel::http {
namespace {

constexpr std::string_view shared = "shared";
constexpr std::string_view cookie_prefix = "cookie:";
constexpr std::size_t derived_bytes = 67; // "fp-" and 64 digits

bool is_cookie(std::string_view name) {
    return equal_ignoring_case(name.substr(0, cookie_prefix.size()), cookie_prefix);
}

// Both return how many values there were. An empty value does not identify a sender.

std::size_t add_header(fingerprint_builder& to, std::string_view name, const header_list& headers) {
    std::size_t found = 0;
    for (const header& line : headers) {
        if (!equal_ignoring_case(line.name, name) || trimmed(line.value).empty()) continue;
        to.add(lowered(name), trimmed(line.value));
        ++found;
    }
    return found;
}

std::size_t add_cookie(fingerprint_builder& to, std::string_view cookie,
                       const header_list& headers) {
    std::size_t found = 0;
    for (const header& line : headers) {
        if (!equal_ignoring_case(line.name, "Cookie")) continue;
        for (std::string_view rest = line.value; !rest.empty();) {
            const std::string_view pair = trimmed(rest.substr(0, rest.find(';')));
            rest.remove_prefix(std::min(rest.find(';'), rest.size() - 1) + 1);
            const std::size_t equals = pair.find('=');
            if (equals == std::string_view::npos || trimmed(pair.substr(0, equals)) != cookie) {
                continue;
            }
            const std::string_view value = trimmed(pair.substr(equals + 1));
            if (value.empty()) continue;
            to.add("cookie:" + std::string{cookie}, value);
            ++found;
        }
    }
    return found;
}

std::string check_name(const std::string& name) {
    if (name == shared) return "\"shared\" stands alone: it names no header";
    if (equal_ignoring_case(name, "Cookie")) {
        return "name one cookie, as in \"Cookie:session\": the others change";
    }
    const bool fine = is_cookie(name)
                          ? is_token(std::string_view{name}.substr(cookie_prefix.size()))
                          : is_token(name);
    return fine ? "" : "'" + name + "' is neither a header's name nor \"Cookie:\" and a cookie's";
}

std::string check_values(const route& one, const gate_options& within) {
    for (const std::string& name : one.principal) {
        if (auto why = check_name(name); !why.empty()) return "its principal: " + why;
    }
    if (within.principal_secret.size() < principal_secret_bytes_min) {
        return "its principal needs a principal_secret of at least 16 bytes, the same in all "
               "processes that share the store; `openssl rand -hex 32` makes one";
    }
    const bool derives = one.need == key_need::derived;
    if (derives && one.without_principal == no_principal::anonymous) {
        return "where keys are derived, clients without a principal would get each other's "
               "answers: principal_missing must be \"refuse\"";
    }
    const std::size_t least = std::max(one.keys.bytes_min, derives ? derived_bytes : 1);
    if (least + principal_bytes > within.limits.key_bytes_max) {
        return "its keys and 33 bytes of their principal are longer than the store takes";
    }
    const bool told_apart =
        one.forward == key_forwarding::record || one.forward == key_forwarding::child;
    if (one.policy.on_lease_expiry == lease_expiry::probe && !told_apart) {
        return "a probe asks about the record's key, which holds the principal, and the service "
               "must know that key: forward must be \"record\"";
    }
    return {};
}

} // namespace

bool names_principal(const route& one) {
    return !one.principal.empty() && !(one.principal.size() == 1 && one.principal[0] == shared);
}

std::optional<std::string> principal_of(const route& how, std::string_view tenant,
                                        const header_list& headers, const std::string& secret,
                                        peer_trust peer) {
    if (!names_principal(how)) return std::string{};
    constexpr std::size_t digits = principal_bytes - 1;
    fingerprint_builder parts{{.secret = secret}};
    parts.add("semel", "principal").add("tenant", tenant);
    std::size_t found = 0;
    for (const std::string_view name : how.principal) {
        if (peer == peer_trust::untrusted && is_for_proxies_to_say(name)) continue;
        found += is_cookie(name) ? add_cookie(parts, name.substr(cookie_prefix.size()), headers)
                                 : add_header(parts, name, headers);
    }
    if (found == 0 && how.without_principal == no_principal::refuse) return std::nullopt;
    return "~" + parts.finish().hex().substr(0, digits);
}

std::string check_principal(const route& one, const gate_options& within) {
    if (names_principal(one)) return check_values(one, within);
    const bool one_tenant = std::holds_alternative<single_tenant>(within.tenants);
    if (one.need == key_need::derived && one_tenant && one.principal.empty()) {
        return "its keys are derived and all clients are one tenant, so equal requests of "
               "different clients would get one answer: say whose it is, as in principal = "
               "[\"Authorization\"], or principal = \"shared\" if all clients are one user";
    }
    return {};
}

} // namespace semel::http
