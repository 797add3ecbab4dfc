#include "databases/redis/client/server.hpp"

#include <charconv>

namespace semel::redis {

namespace {

constexpr unsigned version_min = 7;

// The value of a line `name:value`, or nothing.
std::string_view line_of(std::string_view info, std::string_view name) {
    const std::string wanted = "\n" + std::string{name} + ":";
    const std::size_t at = info.find(wanted);
    if (at == std::string_view::npos) return {};
    info.remove_prefix(at + wanted.size());
    return info.substr(0, info.find_first_of("\r\n"));
}

template <class Number> Number number_in(std::string_view text) {
    Number made = 0;
    std::from_chars(text.data(), text.data() + text.size(), made);
    return made;
}

failure refused(errc code, std::string detail) {
    return {.code = code, .possible = effect::none, .detail = "redis: " + std::move(detail)};
}

} // namespace

server_facts facts_in(std::string_view info) {
    return {.version = std::string{line_of(info, "redis_version")},
            .role = std::string{line_of(info, "role")},
            .cluster = line_of(info, "cluster_enabled") == "1",
            .memory_max = number_in<std::uint64_t>(line_of(info, "maxmemory")),
            .memory_policy = std::string{line_of(info, "maxmemory_policy")}};
}

result<void> check_server(const server_facts& facts, open_mode mode) {
    if (facts.version.empty()) {
        return refused(errc::not_a_store, "the server does not say which Redis it is");
    }
    if (number_in<unsigned>(facts.version) < version_min) {
        return refused(errc::unsupported, "the server is Redis " + facts.version +
                                              ", which is too old; use 7.0 or newer");
    }
    if (facts.cluster) {
        return refused(errc::unsupported,
                       "the server is part of a cluster, which is not supported; use a single "
                       "primary");
    }
    if (facts.role != "master" && mode != open_mode::read_only) {
        return refused(errc::read_only, "the server is a replica; name its primary");
    }
    return {};
}

std::optional<failure> eviction_danger(const server_facts& facts) {
    // Without a limit nothing is ever evicted.
    if (facts.memory_max == 0 || facts.memory_policy == "noeviction") return std::nullopt;
    return refused(errc::unsupported,
                   "the server drops keys when its memory is full (maxmemory-policy " +
                       facts.memory_policy +
                       "), and with a record goes the knowledge that its effect took place; set "
                       "maxmemory-policy noeviction there, or open the store with eviction=warn");
}

} // namespace semel::redis
