#include <string>
#include <utility>

#include "consumer/loop.hpp"
#include "consumer/nats_source.hpp"
#include "consumer/redis_source.hpp"
#include "net/shown_url.hpp"
#include "net/url.hpp"

namespace semel::consumer {

namespace {

using opened = result<std::unique_ptr<source>>;

struct kind {
    std::string_view scheme;
    std::string_view form; // for error messages
    opened (*open)(const net::parsed_url& url, const consumer_options& options);
};

// A new broker is a line here and a source beside the others.
constexpr kind kinds[]{
    {"redis", "redis://host:port/database?stream=NAME&group=NAME", open_redis_source},
    {"rediss", "rediss://host:port/database?stream=NAME&group=NAME", open_redis_source},
    {"nats", "nats://host:port?stream=NAME&durable=NAME", open_nats_source},
    {"nats+tls", "nats+tls://host:port?stream=NAME&durable=NAME", open_nats_source},
};

opened open_source(std::string_view url, const consumer_options& options) {
    const auto parsed = net::parse_url(url);
    if (!parsed) return parsed.error();
    std::string known;
    for (const auto& one : kinds) {
        if (one.scheme == parsed->scheme) return one.open(*parsed, options);
        known += (known.empty() ? "" : ", ") + std::string{one.form};
    }
    return failure{.code = errc::invalid_argument,
                   .possible = effect::none,
                   .detail =
                       "nothing to consume from at '" + net::shown_url(url) + "'; known: " + known};
}

bool are_positive(const consumer_options& options) {
    return options.batch_max > 0 && options.attempts_max > 0 && options.retry_first.count() > 0 &&
           options.claim_after >= std::chrono::milliseconds{1};
}

} // namespace

result<std::unique_ptr<runner>> open_consumer(std::string_view url, handler what,
                                              const consumer_options& options) {
    if (!are_positive(options) || !what) {
        return failure{.code = errc::invalid_argument,
                       .possible = effect::none,
                       .detail = "a consumer needs a handler, and options above zero"};
    }
    auto from = open_source(url, options);
    if (!from) return std::move(from).error();
    return std::unique_ptr<runner>{
        std::make_unique<loop>(*std::move(from), std::move(what), options)};
}

} // namespace semel::consumer
