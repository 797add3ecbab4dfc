#include "net/shown_url.hpp"

#include <algorithm>
#include <array>

#include "net/url_text.hpp"

namespace semel::net {

namespace {

constexpr std::string_view hidden = "***";

template <class List> bool is_among(const List& all, std::string_view one) {
    return std::find(std::begin(all), std::end(all), one) != std::end(all);
}

constexpr std::string_view files[]{"sqlite", "file", "memory", "stdout"};
constexpr std::string_view servers[]{"redis",    "rediss",     "nats",  "nats+tls",
                                     "postgres", "postgresql", "mysql", "mariadb"};

// Parameters whose values are no secrets: those of semel, and the usual ones of libpq. An unknown
// one is hidden, because libpq may learn new ones.
constexpr std::string_view harmless[]{"application_name",
                                      "batch_max",
                                      "cache_bytes",
                                      "ca_file",
                                      "cert_file",
                                      "command_timeout_ms",
                                      "connect_timeout",
                                      "connect_timeout_ms",
                                      "durable",
                                      "eviction",
                                      "gate_ms",
                                      "group",
                                      "key_file",
                                      "lanes",
                                      "lock_timeout_ms",
                                      "lock_wait_ms",
                                      "maxlen",
                                      "prefix",
                                      "socket",
                                      "sslmode",
                                      "sslrootcert",
                                      "statement_timeout_ms",
                                      "stream",
                                      "subject",
                                      "sync",
                                      "target_session_attrs",
                                      "timeout_ms",
                                      "tls",
                                      "wake",
                                      "window",
                                      "records_max",
                                      "bytes_max",
                                      "dead"};

// `one` as it is or escaped, whichever is last.
std::size_t last_of(std::string_view text, char one, std::string_view escaped) {
    const std::size_t plain = text.rfind(one);
    const std::size_t coded = text.rfind(escaped);
    if (plain == std::string_view::npos) return coded;
    return coded == std::string_view::npos ? plain : std::max(plain, coded);
}

std::size_t first_colon(std::string_view text) {
    return std::min({text.find(':'), text.find("%3A"), text.find("%3a"), text.size()});
}

bool is_host(std::string_view text) {
    const std::size_t end = text.starts_with('[') ? text.find(']') : text.find(':');
    const std::string_view host = text.substr(0, end);
    const std::string_view port = text.substr(std::min(end, text.size()));
    const auto of_host = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '-' || c == '_' || c == ':' || c == '[';
    };
    const auto of_port = [](char c) { return (c >= '0' && c <= '9') || c == ':' || c == ']'; };
    return !host.empty() && std::all_of(host.begin(), host.end(), of_host) &&
           std::all_of(port.begin(), port.end(), of_port);
}

// "host:port,host:port/path", without a name. What is no host may be a password that lacks its `@`.
bool are_hosts(std::string_view place) {
    std::string_view hosts = place.substr(0, place.find('/'));
    if (hosts.empty()) return true;
    while (!hosts.empty()) {
        const std::string_view one = hosts.substr(0, hosts.find(','));
        if (!is_host(one)) return false;
        hosts.remove_prefix(std::min(one.size() + 1, hosts.size()));
    }
    return true;
}

// `//user:password@host:port/path`. A name without a password is shown where it cannot be a token
// or a password that lacks its colon.
std::string shown_place(std::string_view scheme, std::string_view text) {
    if (!text.starts_with("//")) return std::string{text.empty() ? text : hidden};
    const std::string_view place = text.substr(2);
    const std::size_t at = last_of(place, '@', "%40");
    const std::string begin = "//";
    if (at == std::string_view::npos) return begin + std::string{are_hosts(place) ? place : hidden};
    const std::string_view who = place.substr(0, at);
    const std::string_view rest = place.substr(at + (place[at] == '@' ? 1 : 3));
    if (!are_hosts(rest)) return begin + std::string{hidden};
    const std::size_t colon = first_colon(who);
    const bool may_be_alone = scheme.starts_with("postgres") || scheme.starts_with('m');
    const std::string password = colon < who.size() ? ":" + std::string{hidden} : "";
    const bool named = !password.empty() || may_be_alone;
    return begin + std::string{named ? who.substr(0, colon) : hidden} + password + "@" +
           std::string{rest};
}

std::string shown_value(std::string_view scheme, std::string_view name, std::string_view value) {
    const bool is_url = scheme == "tiered" && (name == "front" || name == "truth");
    if (is_url) return nested_url(shown_url(decoded_url_text(value)));
    const bool odd = last_of(value, '@', "%40") != std::string_view::npos;
    return std::string{is_among(harmless, name) && !odd ? value : hidden};
}

bool only_tiers(std::string_view query) {
    while (!query.empty()) {
        const std::string_view one = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(one.size() + 1, query.size()));
        const std::string_view name = one.substr(0, one.find('='));
        if (name != "front" && name != "truth" && name != "gate_ms") return false;
    }
    return true;
}

std::string shown_parameters(std::string_view scheme, std::string_view query) {
    std::string made;
    while (!query.empty()) {
        const std::string_view one = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(one.size() + 1, query.size()));
        const std::size_t equals = std::min(one.find('='), one.size());
        const std::string_view name = one.substr(0, equals);
        const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
        if (!made.empty()) made += '&';
        if (equals == one.size() || !std::all_of(name.begin(), name.end(), plain)) {
            made += hidden;
        } else {
            made.append(name).append("=").append(shown_value(scheme, name, one.substr(equals + 1)));
        }
    }
    return made;
}

// Paths and queries of webhooks are secrets more often than not.
std::string shown_webhook(std::string_view text) {
    if (!text.starts_with("//")) return std::string{hidden};
    text.remove_prefix(2);
    const std::size_t end = std::min(text.find_first_of("/?#\\"), text.size());
    const std::string_view place = text.substr(0, end);
    const std::string_view host = place.substr(place.rfind('@') + 1);
    if (!is_host(host)) return "//" + std::string{hidden};
    const bool more = host.size() != place.size() || (end < text.size() && text.substr(end) != "/");
    return "//" + std::string{host} + (more ? "/" + std::string{hidden} : "");
}

} // namespace

std::string_view url_scheme(std::string_view url) {
    const std::string_view scheme = url.substr(0, std::min(url.find(':'), url.size()));
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '+' || c == '-' || c == '.';
    };
    const bool is_one =
        scheme.size() < url.size() && std::all_of(scheme.begin(), scheme.end(), plain);
    return is_one ? scheme : std::string_view{};
}

std::string shown_url(std::string_view url) {
    const std::string_view scheme = url_scheme(url);
    if (scheme.empty()) {
        // "semel.db": a path whose scheme is missing.
        const bool plain = url.find_first_of(":@=%? ") == std::string_view::npos;
        return std::string{plain ? url : hidden};
    }
    const std::string begin = std::string{scheme} + ":";
    const std::string_view rest = url.substr(begin.size());
    if (is_among(files, scheme)) return std::string{url};
    if (scheme == "http" || scheme == "https") return begin + shown_webhook(rest);
    if (!is_among(servers, scheme) && scheme != "tiered") return begin + std::string{hidden};
    const std::size_t question = std::min(rest.find('?'), rest.size());
    // A password with a "?" in it, which no parser takes.
    if (scheme != "tiered" && rest.find('@', question) != std::string_view::npos) {
        return begin + "//" + std::string{hidden};
    }
    // An "&" that was not escaped: what is behind it may belong to the password of a nested URL.
    if (scheme == "tiered" && !only_tiers(rest.substr(std::min(question + 1, rest.size())))) {
        return begin + std::string{hidden};
    }
    std::string made = begin + shown_place(scheme, rest.substr(0, question));
    if (question == rest.size()) return made;
    return made + "?" + shown_parameters(scheme, rest.substr(question + 1));
}

} // namespace semel::net
