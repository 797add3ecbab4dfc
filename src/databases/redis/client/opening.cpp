#include "databases/redis/client/opening.hpp"

#include <string>
#include <utility>

#include "databases/redis/client/keys.hpp"
#include "databases/redis/client/server.hpp"

namespace semel::redis {

namespace {

constexpr std::size_t lanes_max = 64;

failure refused(std::string detail) {
    return {.code = errc::invalid_argument,
            .possible = effect::none,
            .detail = "redis: " + std::move(detail)};
}

} // namespace

result<void> check_options(const redis_store_options& options) {
    if (options.host.empty() && !options.connect) return refused("the host is empty");
    if (options.port == 0) return refused("the port is 0");
    if (!valid_prefix(options.prefix)) {
        return refused("the prefix '" + options.prefix +
                       "' must be 1 to 64 letters, digits and _ - : .");
    }
    if (options.lanes == 0 || options.lanes > lanes_max) {
        return refused("lanes must be 1 to " + std::to_string(lanes_max));
    }
    if (options.connect_timeout <= duration::zero() ||
        options.command_timeout <= duration::zero()) {
        return refused("a time-out must be longer than nothing");
    }
    if (options.batch_max == 0) return refused("batch_max is 0");
    if (!options.user.empty() && options.password.empty()) {
        return refused("there is a user and no password");
    }
    if (options.cert_file.empty() != options.key_file.empty()) {
        return refused("cert_file and key_file go together");
    }
    if (options.connections == redis_connections::one && options.lanes != 1) {
        return refused("one connection cannot serve several lanes; set lanes to 1");
    }
    return {};
}

result<link_options> link_options_of(const redis_store_options& options) {
    auto maker = make_transport_maker(options);
    if (!maker) return std::move(maker).error();
    return link_options{.connect = *std::move(maker),
                        .user = options.user,
                        .password = options.password,
                        .database = options.database,
                        .command_timeout = options.command_timeout,
                        .wanted = options.mode == open_mode::read_only ? server_role::any
                                                                       : server_role::primary,
                        .counters = options.counters};
}

result<void> look_at_server(link& on, server_use use, const redis_store_options& options) {
    const auto info = on.ask({"INFO"});
    if (!info) return info.error();
    const auto facts = facts_in((*info)->text);
    if (auto fit = check_server(facts, options.mode); !fit) return fit;
    if (use == server_use::front || options.mode == open_mode::read_only) return {};
    const auto danger = eviction_danger(facts);
    if (!danger) return {};
    if (options.eviction == redis_eviction::refuse) return *danger;
    const auto to = options.log ? options.log : open_spdlog_logger({.level = log_level::warning});
    log_warning(*to, danger->detail);
    return {};
}

} // namespace semel::redis
