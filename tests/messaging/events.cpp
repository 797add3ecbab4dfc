#include "messaging/events.hpp"

#include <chrono>
#include <thread>

namespace semel::messaging_test {

int deliver_all(outbox::sink& to, std::vector<outbox::message> batch, order kept) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    for (int round = 1; std::chrono::steady_clock::now() < until; ++round) {
        const auto answers = deliver(to, batch, kept);
        std::vector<outbox::message> left;
        for (std::size_t i = 0; i < batch.size(); ++i) {
            if (answers[i].how != delivered::yes) left.push_back(batch[i]);
        }
        if (left.empty()) return round;
        batch = std::move(left);
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return 0;
}

} // namespace semel::messaging_test
