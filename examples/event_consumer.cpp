// Events go to a Redis stream, some of them twice; the consumer bills every order once.
//
// usage: event_consumer [redis://host:port]
// Without an argument: the server that tools/servers runs; where there is none, it is skipped.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <semel/consumer.hpp>
#include <semel/open.hpp>
#include <semel/outbox/sinks.hpp>

#include "support.hpp"

namespace {

constexpr int skipped = 77;

std::vector<semel::outbox::message> orders(int count) {
    std::vector<semel::outbox::message> made(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        made[static_cast<std::size_t>(i)].event = {.id = "order-" + std::to_string(i),
                                                   .topic = "orders",
                                                   .key = "customer-" + std::to_string(i % 7),
                                                   .payload = R"({"cents":1250})"};
    }
    return made;
}

// What a relay does with a batch, over and over.
bool deliver(semel::outbox::sink& sink, const std::vector<semel::outbox::message>& batch) {
    std::vector<semel::outbox::delivery> answers(batch.size());
    sink.deliver(batch, semel::outbox::order::per_key, answers);
    for (const auto& one : answers) {
        if (one.how != semel::outbox::delivered::yes) return false;
    }
    return true;
}

} // namespace

int main(int argc, char** argv) {
    const char* const known = argc > 1 ? argv[1] : std::getenv("SEMEL_TEST_REDIS");
    if (known == nullptr) return skipped;
    const std::string stream = std::string{known} + "?stream=example-" + std::to_string(::getpid());
    const auto sink = semel::outbox::open_sink(stream + "&maxlen=1000").value();
    const example::scratch folder;
    semel::engine inbox{semel::open_store(folder.url()).value()};
    std::atomic<int> billed = 0;
    semel::consumer::consumer_metrics seen;

    // A relay that was killed before it could note the delivery sends the batch again.
    example::claim(deliver(*sink, orders(50)) && deliver(*sink, orders(50)), "all were delivered");

    const auto consumer =
        semel::consumer::open_consumer(
            stream + "&group=billing",
            semel::consumer::once_each(
                inbox, {.tenant = "acme", .operation = "BILL_ORDER"},
                [&](const semel::consumer::received&, semel::execution&) { ++billed; }),
            {.metrics = &seen})
            .value();
    std::jthread thread{[&](std::stop_token stop) { consumer->run(std::move(stop)).value(); }};
    for (int i = 0; i < 600 && seen.acknowledged.get() < 100; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
    thread.request_stop();
    thread.join();

    example::claim(seen.acknowledged.get() == 100, "a hundred messages were acknowledged");
    example::claim(billed == 50 && seen.duplicates.get() == 50, "each order was billed once");
    return 0;
}
