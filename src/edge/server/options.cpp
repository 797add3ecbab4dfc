#include "edge/server/options.hpp"

#include <array>
#include <utility>

namespace semel::edge {
namespace {

failure wrong(std::string_view option, std::string_view why) {
    return {.code = errc::invalid_argument,
            .detail = std::string{option} + ": " + std::string{why}};
}

result<void> check_times(const server_times& times) {
    const std::array<std::pair<std::string_view, duration>, 6> all = {
        {{"times.head", times.head},
         {"times.idle", times.idle},
         {"times.body", times.body},
         {"times.body_max", times.body_max},
         {"times.write", times.write},
         {"times.linger", times.linger}}};
    for (const auto& [name, time] : all) {
        if (time <= duration::zero()) return wrong(name, "must be longer than nothing");
    }
    if (times.body_rate_min == 0) return wrong("times.body_rate_min", "must not be zero");
    if (times.write_rate_min == 0) return wrong("times.write_rate_min", "must not be zero");
    return {};
}

} // namespace

result<void> check(const server_options& options) {
    if (options.listen.host.empty()) return wrong("listen", "the host is missing");
    if (options.threads > 1'024) return wrong("threads", "more than 1024 make no sense");
    if (options.connections_max == 0) return wrong("connections_max", "must not be zero");
    if (options.when_full == server_options::full::replaces && options.threads != 1) {
        return wrong("when_full", "connections are replaced with one thread only");
    }
    if (options.heads.limits.head_bytes_max < 1'024) {
        return wrong("heads.limits.head_bytes_max", "less than 1024 bytes refuse everything");
    }
    if (options.bodies.chunk_line_bytes_max < 18) {
        return wrong("bodies.chunk_line_bytes_max", "a chunk's size alone has up to 18 bytes");
    }
    if (options.tls && (options.tls->certificate_file.empty() || options.tls->key_file.empty())) {
        return wrong("tls", "needs both a certificate and its key");
    }
    return check_times(options.times);
}

} // namespace semel::edge
