// A queue delivers at least once; the consumer's effect takes place once per message.
#include <stdexcept>
#include <string>
#include <vector>

#include <semel/engine.hpp>
#include <semel/open.hpp>

#include "support.hpp"

using namespace std::chrono_literals;

namespace {

const semel::request inbox{.tenant = "acme", .operation = "STOCK_RESERVED"};

semel::request one_message(const std::string& id) {
    semel::request scope = inbox;
    scope.key = id;
    return scope;
}

// Executed and duplicate messages are acknowledged; the others are left for the next delivery.
bool acknowledge(semel::consumed what) {
    return what == semel::consumed::executed || what == semel::consumed::duplicate;
}

void one_by_one(semel::engine& engine) {
    int reserved = 0;
    const auto deliver = [&](auto work) {
        return engine.consume(one_message("event-1"), 30 * 24h, work);
    };

    bool threw = false;
    try {
        deliver([] { throw std::runtime_error{"the warehouse is closed"}; });
    } catch (const std::runtime_error&) { // the work's own exception: not acknowledged
        threw = true;
    }
    const auto second = deliver([&] { ++reserved; });
    const auto third = deliver([&] { ++reserved; });

    example::claim(threw && second == semel::consumed::executed, "a failed delivery runs again");
    example::claim(third == semel::consumed::duplicate && acknowledge(third) && reserved == 1,
                   "a redelivered message is acknowledged without a second effect");
}

void in_batches(semel::engine& engine) {
    std::vector<std::string> reserved;
    const std::vector<std::string> ids{"event-2", "event-3", "event-4"};
    const auto deliver = [&] {
        std::vector<semel::message> messages;
        for (const auto& id : ids) messages.push_back({.key = id});
        return engine.consume_batch(inbox, std::move(messages),
                                    [&](std::size_t at, semel::execution& run) {
                                        const bool closed = at == 1 && run.attempt() == 1;
                                        if (closed) throw std::runtime_error{"shelf is locked"};
                                        reserved.push_back(ids[at]);
                                    });
    };

    const auto first = deliver();
    const auto again = deliver();

    using enum semel::consumed;
    example::claim(first == std::vector{executed, failed, executed}, "one item failed alone");
    example::claim(again == std::vector{duplicate, executed, duplicate}, "only that one ran again");
    example::claim(reserved.size() == ids.size(), "each message took effect once");
}

} // namespace

int main() {
    const example::scratch folder;
    semel::engine engine{semel::open_store(folder.url()).value()};
    one_by_one(engine);
    in_batches(engine);
    return 0;
}
