#include "semel/http/tenant.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/chore.hpp"
#include "http/text.hpp"
#include "semel/core/policy.hpp"

namespace semel::http {
namespace {

static_assert(reserved_tenant == chore_tenant);

constexpr std::array<std::string_view, 4> scope_names = {"use", "read", "operate", "admin"};

failure wrong(std::string why) {
    return {.code = errc::invalid_argument, .detail = std::move(why)};
}

std::uint64_t first_bytes(const fingerprint& hash) {
    std::uint64_t number = 0;
    std::memcpy(&number, hash.bytes().data(), sizeof number);
    return number;
}

bool equal_in_constant_time(const fingerprint& left, const fingerprint& right) {
    unsigned differences = 0;
    for (std::size_t i = 0; i < fingerprint::size_bytes; ++i) {
        differences |= std::to_integer<unsigned>(left.bytes()[i] ^ right.bytes()[i]);
    }
    return differences == 0;
}

} // namespace

std::string_view name(scope which) {
    return scope_names.at(static_cast<std::size_t>(which));
}

std::optional<scope> scope_named(std::string_view name) {
    const auto* const at = std::find(scope_names.begin(), scope_names.end(), name);
    if (at == scope_names.end()) return std::nullopt;
    return static_cast<scope>(at - scope_names.begin());
}

result<scope_set> parse_scopes(std::string_view text) {
    scope_set all;
    while (true) {
        const auto comma = text.find(',');
        const auto one = scope_named(text.substr(0, comma));
        if (!one) return wrong("scopes are use, read, operate and admin, with commas between them");
        if (all.has(*one)) return wrong("a scope is named twice");
        all.add(*one);
        if (comma == std::string_view::npos) return all;
        text.remove_prefix(comma + 1);
    }
}

std::string to_string(scope_set all) {
    std::string text;
    for (const std::string_view each : scope_names) {
        if (all.has(*scope_named(each))) (text += text.empty() ? "" : ",").append(each);
    }
    return text;
}

bool is_tenant_name(std::string_view name) {
    return !name.empty() && name.size() <= limits{}.tenant_bytes_max &&
           std::all_of(name.begin(), name.end(), is_visible) && name != reserved_tenant;
}

std::string tenant_fault(std::string_view name) {
    if (is_tenant_name(name)) return {};
    if (name == reserved_tenant) {
        return "the tenant \"semel\" is reserved for records of semel's own; take another name";
    }
    return "a tenant must have 1 to 64 visible ASCII characters";
}

std::optional<std::string_view> bearer_token(const header_list& headers) {
    constexpr std::string_view scheme = "Bearer ";
    const std::string* value = headers.find("Authorization");
    if (value == nullptr || headers.count("Authorization") != 1) return std::nullopt;
    const std::string_view text = *value;
    if (!equal_ignoring_case(text.substr(0, scheme.size()), scheme)) return std::nullopt;
    const std::string_view token = trimmed(text.substr(scheme.size()));
    if (token.empty()) return std::nullopt;
    return token;
}

result<void> token_table::add(const fingerprint& hash, grant gives) {
    if (auto why = tenant_fault(gives.tenant); !why.empty()) return wrong(std::move(why));
    if (gives.may.empty()) return wrong("a token needs a scope");
    const auto [first, last] = grants_.equal_range(first_bytes(hash));
    const bool known =
        std::any_of(first, last, [&](const auto& one) { return one.second.hash == hash; });
    if (known) return wrong("the token is there twice");
    grants_.emplace(first_bytes(hash), entry{hash, std::move(gives)});
    return {};
}

fingerprint token_table::digest() const {
    std::vector<std::string_view> hashes;
    for (const auto& one : grants_) hashes.push_back(one.second.hash.as_string_view());
    std::sort(hashes.begin(), hashes.end());
    std::string all;
    for (const std::string_view one : hashes) all += one;
    return fingerprint::raw(all);
}

// The first bytes of a hash choose where to compare. The time of that may reveal the hash of the
// token that a client tries, and that leads to no other token.
std::optional<grant> token_table::find(std::string_view token) const {
    return find(fingerprint::raw(token));
}

std::optional<grant> token_table::find(const fingerprint& hash) const {
    const auto [first, last] = grants_.equal_range(first_bytes(hash));
    for (auto at = first; at != last; ++at) {
        if (equal_in_constant_time(at->second.hash, hash)) return at->second.gives;
    }
    return std::nullopt;
}

} // namespace semel::http
