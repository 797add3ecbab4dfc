#include "start_advice.hpp"

#include <sys/prctl.h>
#include <sys/stat.h>

#include <algorithm>

#include "nats/nats.hpp"
#include "net/address.hpp"
#include "net/shown_url.hpp"
#include "open/targets.hpp"

namespace semel::app {
namespace {

struct place {
    std::string host = {};
    bool password = false;
    bool secured = false; // by TLS that is asked for, or because it does not leave the machine
};

std::optional<place> postgres_place(const net::parsed_url& url) {
    // libpq reads it; this much of it is enough for advice.
    std::string_view rest = url.base;
    const std::size_t start = rest.find("//");
    if (start == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(start + 2);
    const std::size_t at = rest.substr(0, rest.find('/')).rfind('@');
    place made;
    if (at != std::string_view::npos) {
        made.password = rest.substr(0, at).find(':') != std::string_view::npos;
        rest.remove_prefix(at + 1);
    }
    made.host = rest.substr(0, rest.find_first_of(rest.starts_with('[') ? "]/" : ":/,"));
    if (made.host.starts_with('[')) made.host.erase(0, 1);
    for (const auto& [name, value] : url.parameters) {
        made.password = made.password || name == "password";
        if (name == "host") made.host = value;
        if (name == "sslmode") made.secured = value == "require" || value.starts_with("verify");
    }
    // No host, or a folder: a socket of this machine.
    made.secured = made.secured || made.host.empty() || made.host.starts_with('/');
    return made;
}

std::optional<place> place_of(const net::parsed_url& url) {
    const std::string& scheme = url.scheme;
    if (scheme.starts_with("postgres")) return postgres_place(url);
    if (scheme.starts_with("redis")) {
        net::url_parameters given{url};
        redis_store_options read;
        if (!read_redis_connection(url, given, read)) return std::nullopt;
        return place{.host = read.host, .password = !read.password.empty(), .secured = read.tls};
    }
    if (scheme.starts_with("m") && scheme != "memory") {
        const auto read = mysql_target(url, {});
        if (!read) return std::nullopt;
        return place{.host = read->host,
                     .password = !read->password.empty(),
                     .secured = read->tls != mysql_tls::off || !read->socket.empty()};
    }
    if (scheme.starts_with("nats")) {
        net::url_parameters given{url};
        const auto read = nats::read_connection(url, given);
        if (!read) return std::nullopt;
        return place{.host = read->servers.substr(0, read->servers.rfind(':')),
                     .password = !read->password.empty() || !read->user.empty(),
                     .secured = read->tls};
    }
    return std::nullopt;
}

bool is_loopback(const std::string& host) {
    if (host == "localhost" || host.starts_with("127.")) return true;
    const auto bytes = net::parse_address(host);
    const auto one = net::parse_address("::1");
    return bytes && *bytes == *one;
}

void check_file(std::vector<std::string>& to, const std::string& path, const std::string& what) {
    struct stat about {};
    if (path.empty() || ::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return;
    if ((about.st_mode & S_IRWXO) == 0) return;
    to.push_back(what + " " + path + " can be read by every user of this machine: chmod o-rwx");
}

void check_reference(std::vector<std::string>& to, const std::string& written,
                     const std::string& what) {
    constexpr std::string_view scheme = "file:";
    const auto at = written.find(scheme);
    if (at == std::string::npos) return;
    if (at == 0 || written[at - 1] == ' ') check_file(to, written.substr(at + scheme.size()), what);
}

// Settings of a webhook follow a #.
void check_key_files(std::vector<std::string>& to, const std::string& what,
                     const std::string& url) {
    const auto hash = url.find('#');
    const bool webhook = url.starts_with("http") && hash != std::string::npos;
    const auto parsed = net::parse_url(webhook ? "x:?" + url.substr(hash + 1) : url);
    if (!parsed) return;
    for (const auto& [name, value] : parsed->parameters) {
        const bool holds_a_key = name == "key_file" || name == "sslkey" || name == "secret_file" ||
                                 name == "old_secret_file";
        if (holds_a_key) check_file(to, value, what + ": " + name);
    }
}

void check_url(std::vector<std::string>& to, const std::string& what, const config::secret& url) {
    check_key_files(to, what, url.text);
    if (auto plain = plain_password(what, url.text); !plain.empty()) to.push_back(std::move(plain));
    const auto parsed = net::parse_url(url.text);
    if (!parsed) return;
    std::string path = parsed->target;
    if (path.starts_with("//")) path.erase(0, 2);
    if (parsed->scheme == "sqlite" || parsed->scheme == "file") {
        check_file(to, path, "the file of " + what);
    }
}

std::string answers_open_to_all(const config::config& of) {
    const bool single = of.tenants.source == config::tenant_kind::single;
    if (of.gateway.upstream.empty() || !single) return {};
    std::vector<http::route> routes;
    for (const config::route_entry& one : of.routes) routes.push_back(one.route);
    if (routes.empty()) routes.push_back({.operation = "http"});
    return open_answers(of.tenants.single, routes);
}

} // namespace

std::string open_answers(const http::tenant_source& tenants,
                         const std::vector<http::route>& routes) {
    if (!std::holds_alternative<http::single_tenant>(tenants)) return {};
    std::string names;
    for (const http::route& one : routes) {
        if (one.principal.empty()) names += (names.empty() ? "" : ", ") + one.operation;
    }
    if (names.empty()) return {};
    return "all clients are one tenant, and no principal is named for " + names +
           ": every client that sends a key gets the answer under it, without the service being "
           "asked who that is; say principal = [\"Authorization\"] or another source, or "
           "principal = \"shared\" if they are one user (docs/http.md)";
}

std::string plain_password(const std::string& what, const std::string& url) {
    const auto parsed = net::parse_url(url);
    const auto found = parsed ? place_of(*parsed) : std::nullopt;
    if (!found || !found->password || found->secured || is_loopback(found->host)) return {};
    return what + " sends its password to " + found->host + " without TLS (" + net::shown_url(url) +
           "): ask for TLS in the URL";
}

std::vector<std::string> start_advice(const config::config& of) {
    std::vector<std::string> made;
    check_url(made, "store.url", of.store.url);
    if (of.store.url.written != of.store.url.text) {
        check_reference(made, of.store.url.written, "store.url:");
    }
    check_url(made, "store.front", of.store.front);
    check_reference(made, of.store.front.written, "store.front:");
    for (const std::string& one : of.store.keys) {
        check_reference(made, one, "store.encryption_keys:");
    }
    for (const config::relay_entry& one : of.relays) {
        check_url(made, "relay.store", one.store);
        if (one.store.written != one.store.text) {
            check_reference(made, one.store.written, "relay.store:");
        }
        check_url(made, "relay.sink", one.sink);
    }
    check_reference(made, of.alerts.webhook.written, "alerts.webhook:");
    check_reference(made, of.gateway.principal_secret.written, "gateway.principal_secret:");
    check_reference(made, of.log.key_secret.written, "log.key_secret:");
    check_reference(made, of.alerts.signing.written, "alerts.secret:");
    check_reference(made, of.alerts.old_signing.written, "alerts.old_secret:");
    check_file(made, of.server.tls.key_file, "server.tls_key:");
    if (auto open = answers_open_to_all(of); !open.empty()) made.push_back(std::move(open));
    return made;
}

// Also keeps other processes of the same user from reading its memory and environment.
void forbid_core_dumps() {
    static_cast<void>(::prctl(PR_SET_DUMPABLE, 0));
}

} // namespace semel::app
