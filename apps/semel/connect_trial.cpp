#include "connect_trial.hpp"

#include <filesystem>
#include <utility>

#include <unistd.h>

#include "config/token_file.hpp"
#include "databases/redis/client/opening.hpp"
#include "net/shown_url.hpp"
#include "open/targets.hpp"
#include "semel/outbox/open.hpp"
#include "semel/outbox/sinks.hpp"
#include "wiring.hpp"

namespace semel::app {
namespace {

constexpr const char* comes_later = "`semel serve` creates it, or upgrades its tables";

bool is_file_store(std::string_view url) {
    return net::url_scheme(url) == "sqlite";
}

// A file is not even opened for writing: that would leave a log beside it.
open_mode mode_for(std::string_view url) {
    return is_file_store(url) ? open_mode::read_only : open_mode::existing;
}

std::string counted(std::size_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

trial ended(std::string what, result<void> got, std::string note = {}) {
    return {.what = std::move(what), .got = std::move(got), .note = std::move(note)};
}

// Opening the store for work has to write where this only reads.
result<void> check_rights(const std::string& url) {
    const auto parsed = net::parse_url(url);
    if (!parsed) return parsed.error();
    const auto file = sqlite_target(*parsed, {});
    if (!file) return file.error();
    const std::filesystem::path path{file->path};
    const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
    const bool is_there = ::access(path.c_str(), F_OK) == 0;
    const auto refused = [](const std::string& name) {
        return failure{.code = errc::read_only,
                       .detail = name + " is not there, or this user may not write to it"};
    };
    if (::access(folder.c_str(), W_OK | X_OK) != 0) return refused(folder);
    if (is_there && ::access(path.c_str(), W_OK) != 0) return refused(path.string());
    return {};
}

result<void> ask(const std::string& url, const config::store_section& with) {
    auto store =
        semel::open_store(url, {.table_prefix = with.options.table_prefix, .mode = mode_for(url)});
    if (!store) return std::move(store).error();
    const record_id id{.tenant = "semel", .operation = "ready", .key = "ready"};
    auto got = (*store)->call(id, commands::lookup{});
    return got ? result<void>{} : std::move(got).error();
}

trial try_store(const std::string& what, const std::string& url,
                const config::store_section& with) {
    if (net::url_scheme(url) == "memory") return ended(what, {}, "in the process itself");
    auto got = ask(url, with);
    if (!is_file_store(url)) return ended(what, std::move(got));
    const bool missing = !got && got.error().code == errc::schema_missing;
    if (!got && !missing) return ended(what, std::move(got));
    return ended(what, check_rights(url), missing ? comes_later : "");
}

trial try_front(const std::string& url) {
    const std::string what = "store.front " + net::shown_url(url);
    const auto options = front_target(url, {});
    if (!options) return ended(what, options.error());
    auto how = redis::link_options_of(*options);
    if (!how) return ended(what, std::move(how).error());
    redis::link on{*std::move(how)};
    return ended(what, redis::look_at_server(on, redis::server_use::front, *options));
}

void try_stores(const config::store_section& with, std::vector<trial>& to) {
    std::string front = with.front.text;
    std::string truth = with.url.text;
    if (net::url_scheme(truth) == "tiered") {
        const auto parsed = net::parse_url(truth);
        const auto both = parsed ? tiered_target(*parsed) : result<tiered_urls>{parsed.error()};
        if (!both) return to.push_back(ended("store.url " + net::shown_url(truth), both.error()));
        front = both->front;
        truth = both->truth;
    }
    to.push_back(try_store("store.url " + net::shown_url(truth), truth, with));
    if (!front.empty()) to.push_back(try_front(front));
}

trial try_outbox(const std::string& name, const config::config& of,
                 const config::relay_entry& one) {
    const bool own = one.store.text.empty();
    const std::string& url = own ? of.store.url.text : one.store.text;
    const std::string what = name + ".store " + net::shown_url(url);
    outbox::table_options with = outbox_options_of(of, one);
    with.mode = mode_for(url);
    auto on = outbox::open_table(url, with);
    // The tables of the store and of its outbox are made together.
    const bool later = !on && own && is_file_store(url) && on.error().code == errc::schema_missing;
    if (later) return ended(what, {}, comes_later);
    if (!on) return ended(what, std::move(on).error());
    auto got = (*on)->measure();
    if (!got) return ended(what, std::move(got).error());
    return ended(what, {}, counted(got->waiting, "event") + " in it");
}

trial try_tokens(const std::string& path) {
    const std::string what = "tenants.tokens " + path;
    const auto file = config::read_tokens(path);
    if (!file) return ended(what, file.error());
    return ended(what, {}, counted(file->lines.size(), "token"));
}

} // namespace

std::vector<trial> try_connections(const config::config& of) {
    std::vector<trial> made;
    try_stores(of.store, made);
    if (!of.tenants.tokens.empty()) made.push_back(try_tokens(of.tenants.tokens));
    for (std::size_t i = 0; i < of.relays.size(); ++i) {
        const config::relay_entry& one = of.relays[i];
        const std::string name = "relay[" + std::to_string(i + 1) + "]";
        made.push_back(try_outbox(name, of, one));
        made.push_back(ended(name + ".sink " + net::shown_url(one.sink.text),
                             outbox::try_sink(one.sink.text)));
    }
    return made;
}

} // namespace semel::app
