#include <array>
#include <utility>

#include "net/shown_url.hpp"
#include "net/url.hpp"
#include "outbox/sinks/file_sink.hpp"
#include "outbox/sinks/nats_sink.hpp"
#include "outbox/sinks/redis_sink.hpp"
#include "outbox/sinks/webhook_sink.hpp"
#include "semel/outbox/sinks.hpp"

namespace semel::outbox {

namespace {

using opened = result<std::unique_ptr<sink>>;

struct kind {
    std::string_view scheme;
    std::string_view form; // for error messages
    opened (*open)(std::string_view url, const sink_options& options);
    result<void> (*check)(std::string_view url, const sink_options& options);
    result<void> (*connect)(std::string_view url, const sink_options& options);
};

template <opened (*open)(const net::parsed_url&, const sink_options&)>
opened parsed(std::string_view url, const sink_options& options) {
    const auto read = net::parse_url(url);
    if (!read) return read.error();
    return open(*read, options);
}

// Of a sink that connects when it delivers: opening it has no effect.
template <opened (*open)(std::string_view, const sink_options&)>
constexpr kind connected_kind(std::string_view scheme, std::string_view form) {
    return {scheme, form, open,
            [](std::string_view url, const sink_options& with) -> result<void> {
                auto made = open(url, with);
                return made ? result<void>{} : std::move(made).error();
            },
            [](std::string_view url, const sink_options& with) -> result<void> {
                auto made = open(url, with);
                return made ? (*made)->connect() : std::move(made).error();
            }};
}

template <result<void> (*look)(const net::parsed_url&)>
result<void> looked_at(std::string_view url, const sink_options&) {
    const auto read = net::parse_url(url);
    if (!read) return read.error();
    return look(*read);
}

// A new sink is a line here and a file beside this one.
constexpr kind kinds[]{
    connected_kind<parsed<open_stdout_sink>>("stdout", "stdout:"),
    {"file", "file:path", parsed<open_file_sink>, looked_at<check_file_sink>,
     looked_at<try_file_sink>},
    connected_kind<open_webhook_sink>("http", "http://host:port/path"),
    connected_kind<open_webhook_sink>("https", "https://host:port/path"),
    connected_kind<parsed<open_redis_sink>>("redis", "redis://host:port/database?stream=NAME"),
    connected_kind<parsed<open_nats_sink>>("nats", "nats://host:port?subject=NAME"),
    connected_kind<parsed<open_nats_sink>>("nats+tls", "nats+tls://host:port?subject=NAME"),
    connected_kind<parsed<open_redis_sink>>("rediss", "rediss://host:port/database?stream=NAME"),
};

failure unknown(std::string_view url) {
    std::string known;
    for (const auto& one : kinds) known += (known.empty() ? "" : ", ") + std::string{one.form};
    return {.code = errc::invalid_argument,
            .possible = effect::none,
            .detail = "no sink answers to '" + net::shown_url(url) + "'; known: " + known};
}

class metered_sink final : public sink {
public:
    metered_sink(std::unique_ptr<sink> inner, sink_metrics& metrics)
        : inner_(std::move(inner)), metrics_(metrics) {}

    result<void> connect() override { return inner_->connect(); }

    void deliver(std::span<const message> batch, order kept, std::span<delivery> answers) override {
        const auto start = std::chrono::steady_clock::now();
        inner_->deliver(batch, kept, answers);
        metrics_.latency.record(std::chrono::steady_clock::now() - start);
        metrics_.batches.add();
        std::array<std::uint64_t, 4> counts = {};
        for (const auto& one : answers) ++counts[static_cast<std::size_t>(one.how)];
        const auto count = [&](delivered how) { return counts[static_cast<std::size_t>(how)]; };
        metrics_.delivered.add(count(delivered::yes));
        metrics_.later.add(count(delivered::later));
        metrics_.rejected.add(count(delivered::rejected));
        metrics_.held.add(count(delivered::held));
    }

private:
    const std::unique_ptr<sink> inner_;
    sink_metrics& metrics_;
};

const kind* kind_of(std::string_view url) {
    const std::string_view scheme = net::url_scheme(url);
    for (const kind& one : kinds) {
        if (one.scheme == scheme) return &one;
    }
    return nullptr;
}

} // namespace

opened open_sink(std::string_view url, const sink_options& options) {
    const kind* const of = kind_of(url);
    if (of == nullptr) return unknown(url);
    auto made = of->open(url, options);
    if (!made || options.metrics == nullptr) return made;
    return std::unique_ptr<sink>{
        std::make_unique<metered_sink>(*std::move(made), *options.metrics)};
}

result<void> check_sink(std::string_view url, const sink_options& options) {
    const kind* const of = kind_of(url);
    return of == nullptr ? unknown(url) : of->check(url, options);
}

result<void> try_sink(std::string_view url, const sink_options& options) {
    const kind* const of = kind_of(url);
    return of == nullptr ? unknown(url) : of->connect(url, options);
}

} // namespace semel::outbox
