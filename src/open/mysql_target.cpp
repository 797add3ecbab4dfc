#include <charconv>
#include <chrono>
#include <cstdint>

#include "open/targets.hpp"

namespace semel {

namespace {

constexpr std::uint64_t count_unit = 1'000;
constexpr auto form = "write mysql://user:password@host:port/database";

failure refused(std::string detail) {
    return {.code = errc::invalid_argument, .possible = effect::none, .detail = std::move(detail)};
}

void read_milliseconds(net::url_parameters& from, std::string_view name, duration& to) {
    std::int64_t count = std::chrono::duration_cast<std::chrono::milliseconds>(to).count();
    from.number(name, count, count_unit);
    to = std::chrono::milliseconds{count};
}

// `host`, `host:port`, `[address]:port`
result<void> read_host(std::string_view text, mysql_store_options& to) {
    std::size_t end = text.find(':');
    if (text.starts_with('[')) {
        end = text.find(']');
        if (end == std::string_view::npos) return refused("'[' in a MySQL URL needs a ']'");
        to.host = text.substr(1, end - 1);
        ++end;
    } else if (!text.empty()) {
        to.host = text.substr(0, end);
    }
    if (end >= text.size()) return {};
    const std::string_view port = text.substr(end);
    const auto [last, error] = std::from_chars(port.data() + 1, port.data() + port.size(), to.port);
    const bool whole = error == std::errc{} && last == port.data() + port.size();
    if (port.front() == ':' && whole && to.port != 0) return {};
    return refused("the port in a MySQL URL must be a number from 1 to 65535");
}

// `//user:password@host:port/database`. A password may hold anything, so it ends at the last `@`.
result<void> read_place(std::string_view text, mysql_store_options& to) {
    if (!text.starts_with("//")) return refused(form);
    text.remove_prefix(2);
    const std::size_t at = text.rfind('@');
    if (at != std::string_view::npos) {
        const std::string_view who = text.substr(0, at);
        const std::size_t colon = std::min(who.find(':'), who.size());
        to.user = who.substr(0, colon);
        to.password = who.substr(std::min(colon + 1, who.size()));
        text.remove_prefix(at + 1);
    }
    const std::size_t slash = std::min(text.find('/'), text.size());
    to.database = text.substr(std::min(slash + 1, text.size()));
    if (to.database.empty()) return refused("a MySQL URL names no database; " + std::string{form});
    return read_host(text.substr(0, slash), to);
}

// Whom it trusts is named only by those who want to check.
result<void> read_tls(const std::string& word, mysql_store_options& to) {
    if (word.empty()) {
        to.tls = to.ca_file.empty() ? mysql_tls::off : mysql_tls::verify;
    } else if (word == "off") {
        to.tls = mysql_tls::off;
    } else if (word == "unverified") {
        to.tls = mysql_tls::unverified;
    } else if (word == "verify") {
        to.tls = mysql_tls::verify;
    } else {
        return refused("parameter tls of a MySQL URL must be off, unverified or verify");
    }
    return {};
}

} // namespace

result<mysql_store_options> mysql_target(const net::parsed_url& url, const store_options& options) {
    mysql_store_options own;
    own.table_prefix = options.table_prefix;
    own.queue_max = options.queue_max;
    own.counters = options.counters;
    own.mode = options.mode;
    if (auto read = read_place(url.target, own); !read) return std::move(read).error();
    net::url_parameters given{url};
    std::string tls;
    given.text("prefix", own.table_prefix);
    given.text("socket", own.socket);
    given.text("tls", tls);
    given.text("ca_file", own.ca_file);
    given.text("cert_file", own.cert_file);
    given.text("key_file", own.key_file);
    given.number("lanes", own.lanes, count_unit);
    given.number("batch_max", own.batch_max, count_unit);
    read_milliseconds(given, "connect_timeout_ms", own.connect_timeout);
    read_milliseconds(given, "statement_timeout_ms", own.statement_timeout);
    read_milliseconds(given, "lock_timeout_ms", own.lock_timeout);
    if (auto read = given.finish(); !read) return std::move(read).error();
    if (auto read = read_tls(tls, own); !read) return std::move(read).error();
    return own;
}

} // namespace semel
