#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bare_brokers.hpp"
#include "bench.hpp"
#include "private_server.hpp"
#include "scratch_dir.hpp"
#include "semel/outbox/sinks.hpp"
#include "web_load.hpp"

namespace semel::bench {

namespace {

// Short and many: a busy machine then disturbs both sides alike.
constexpr seconds usual_turn{1};
constexpr std::size_t more_rounds = 3;
constexpr double least = 0.7;
constexpr std::size_t keys = 200;

// Batches as a relay would hand them over, with ids that never come twice.
class event_batches {
public:
    event_batches() {
        batch_.resize(broker_load::batch);
        for (std::size_t i = 0; i < batch_.size(); ++i) {
            batch_[i].attempts = 1;
            batch_[i].event.topic = broker_load::topic;
            batch_[i].event.key = "customer-" + std::to_string(i % keys);
            batch_[i].event.payload.assign(broker_load::payload_bytes, 'x');
        }
    }

    const std::vector<outbox::message>& next() {
        for (auto& one : batch_) one.event.id = broker_load::id_of(++last_);
        return batch_;
    }

private:
    std::vector<outbox::message> batch_;
    std::uint64_t last_ = 0;
};

// Events per second, every one confirmed.
double rate_of(outbox::sink& to, event_batches& from, outbox::order kept, seconds most) {
    std::vector<outbox::delivery> answers(broker_load::batch);
    std::size_t done = 0;
    const auto start = std::chrono::steady_clock::now();
    seconds took{0};
    while (took < most) {
        to.deliver(from.next(), kept, answers);
        for (const auto& one : answers) {
            if (one.how != outbox::delivered::yes) throw std::runtime_error{one.error};
        }
        done += answers.size();
        took = std::chrono::steady_clock::now() - start;
    }
    return static_cast<double>(done) / took.count();
}

struct contest {
    const char* name;
    const char* reference_name;
    std::function<double(seconds)> reference;
    std::function<void()> clean;
};

void compare(const contest& what, outbox::sink& sink, const settings& how, report& to) {
    const seconds length = std::min(usual_turn, how.per_measurement);
    event_batches batches;
    std::vector<figures> plain;
    std::vector<figures> ordered;
    for (std::size_t i = 0; i < more_rounds * how.rounds; ++i) {
        to.progress(std::string{what.name} + ": round " + std::to_string(i + 1));
        const double reference = what.reference(length);
        what.clean();
        plain.push_back({rate_of(sink, batches, outbox::order::none, length), reference});
        what.clean();
        ordered.push_back({rate_of(sink, batches, outbox::order::per_key, length), reference});
        what.clean();
    }
    to.add({.scenario = std::string{what.name} + ", 256 bytes",
            .unit = "events/s",
            .reference_name = what.reference_name,
            .bar = at_least(least)},
           plain);
    to.add({.scenario = std::string{what.name} + ", order per key, 200 keys",
            .unit = "events/s",
            .reference_name = what.reference_name,
            .bar = {}},
           ordered);
}

void redis_streams(const settings& how, const std::filesystem::path& folder, report& to) {
    const private_server server{"redis", folder};
    const std::string url = server.setting("SEMEL_TEST_REDIS");
    bare_stream bare{url};
    const auto sink = outbox::open_sink(url + "?stream=" + broker_load::topic).value();
    compare({.name = "sink redis",
             .reference_name = "bare pipelined XADD",
             .reference = [&](seconds most) { return bare.rate(most); },
             .clean = [&] { bare.clean(); }},
            *sink, how, to);
}

void nats_jetstream(const settings& how, const std::filesystem::path& folder, report& to) {
    const private_server server{"nats", folder};
    const std::string url = server.setting("SEMEL_TEST_NATS");
    bare_jetstream bare{url};
    const auto sink = outbox::open_sink(url + "?subject=" + broker_load::topic).value();
    compare({.name = "sink nats",
             .reference_name = "bare libnats, async, window 4096",
             .reference = [&](seconds most) { return bare.rate(most); },
             .clean = [&] { bare.clean(); }},
            *sink, how, to);
}

void webhook(const settings& how, const std::filesystem::path& folder, report& to) {
    const nginx endpoint{folder};
    const wrk clients{folder};
    int run = 0;
    const auto sink =
        outbox::open_sink(endpoint.upstream() + "/#concurrency=64", {.secret = "secret"}).value();
    compare({.name = "sink webhook, signed",
             .reference_name = "wrk, 64 connections",
             .reference =
                 [&](seconds most) {
                     return clients.rate(endpoint.upstream(), web_keys::fresh,
                                         "hook" + std::to_string(++run), most);
                 },
             .clean = [] {}},
            *sink, how, to);
}

} // namespace

void sinks(const settings& how, report& to) {
    const scratch_dir dir{how.work_dir};
    redis_streams(how, dir.path(), to);
    nats_jetstream(how, dir.path(), to);
    webhook(how, dir.path(), to);
}

} // namespace semel::bench
