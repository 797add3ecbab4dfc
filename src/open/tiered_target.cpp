#include <chrono>
#include <cstdint>
#include <utility>

#include "open/targets.hpp"

namespace semel {

namespace {

constexpr std::uint64_t count_unit = 1'000;
// Where the front has not answered by then, the truth is asked.
constexpr duration front_timeout = std::chrono::milliseconds{250};

failure refused(std::string detail) {
    return {.code = errc::invalid_argument, .possible = effect::none, .detail = std::move(detail)};
}

} // namespace

result<tiered_urls> tiered_target(const net::parsed_url& url) {
    constexpr auto form = "write tiered:?front=redis://…&truth=postgres://…, with %26 for & and "
                          "%25 for % inside the two";
    if (!url.target.empty()) return refused("'tiered:' has no path; " + std::string{form});
    tiered_urls made;
    std::int64_t gate_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(made.options.gate_life).count();
    net::url_parameters given{url};
    given.text("front", made.front);
    given.text("truth", made.truth);
    given.number("gate_ms", gate_ms, count_unit);
    if (auto read = given.finish(); !read) return std::move(read).error();
    if (made.front.empty() || made.truth.empty()) {
        return refused("'tiered:' needs a front and a truth; " + std::string{form});
    }
    made.options.gate_life = std::chrono::milliseconds{gate_ms};
    return made;
}

result<redis_store_options> front_target(const std::string& url, const store_options& options) {
    const auto parsed = net::parse_url(url);
    if (!parsed) return parsed.error();
    if (parsed->scheme != "redis" && parsed->scheme != "rediss") {
        return refused("the front of a tiered store must be redis:// or rediss://, not '" +
                       parsed->scheme + ":'");
    }
    // The counters are the truth's.
    return redis_target(*parsed, {.queue_max = options.queue_max},
                        {.connect_timeout = front_timeout, .command_timeout = front_timeout});
}

result<std::unique_ptr<front_tier>> open_front(const std::string& url,
                                               const store_options& options) {
    const auto own = front_target(url, options);
    if (!own) return own.error();
    return open_redis_front(*own);
}

} // namespace semel
