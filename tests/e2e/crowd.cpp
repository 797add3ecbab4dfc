#include "e2e/crowd.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>

#include "http/support/client.hpp"

namespace semel::e2e {

std::string order_key(int nth) {
    return "order-" + std::to_string(nth);
}

// One connection, to any of the gateways, until it breaks or brings bad news.
class crowd::client {
public:
    client(const std::vector<std::uint16_t>& gateways, unsigned seed)
        : gateways_(gateways), dice_(seed) {}

    // Nothing: come again.
    std::optional<std::string> ask(const std::string& text) {
        try {
            if (!line_) line_.emplace(gateways_[dice_() % gateways_.size()]);
            const edge::support::answer got = line_->ask(text);
            if (got.whole && got.status == 201) return got.body;
            line_.reset();
            const bool later = !got.whole || got.status == 409 || got.status >= 500;
            if (later) return std::nullopt;
            return "refused: " + std::to_string(got.status) + " " + got.body;
        } catch (const std::runtime_error&) {
            line_.reset(); // nobody listens there
            return std::nullopt;
        }
    }

    void pause() { std::this_thread::sleep_for(std::chrono::milliseconds{10 + dice_() % 90}); }

private:
    const std::vector<std::uint16_t>& gateways_;
    std::mt19937 dice_;
    std::optional<edge::support::client> line_;
};

crowd::crowd(std::vector<std::uint16_t> gateways, int first, int last, int clients)
    : gateways_(std::move(gateways)), told_(static_cast<std::size_t>(last)) {
    constexpr int later = 150; // orders in between
    for (int nth = first; nth < last + later; ++nth) {
        if (nth < last) sends_.insert(sends_.end(), {nth, nth}); // two clients get them at once
        const int before = nth - later;
        if (before >= first && before % 2 == 0) sends_.push_back(before);
    }
    for (int i = 0; i < clients; ++i) {
        threads_.emplace_back([this, seed = static_cast<unsigned>(i)] { work(seed); });
    }
}

crowd::~crowd() {
    give_up();
    wait();
}

void crowd::wait() {
    for (std::thread& one : threads_) {
        if (one.joinable()) one.join();
    }
}

void crowd::work(unsigned seed) {
    client me{gateways_, seed};
    for (std::size_t at = 0; (at = next_++) < sends_.size();) {
        const int order = sends_[at];
        const std::string text = edge::support::post_text(
            {.key = order_key(order), .body = R"({"order":)" + std::to_string(order) + "}"});
        while (!over_) {
            ++tries_;
            if (const auto told = me.ask(text)) {
                note(order, *told);
                break;
            }
            me.pause();
        }
    }
}

void crowd::note(int order, const std::string& told) {
    const std::lock_guard lock{mutex_};
    std::string& known = told_[static_cast<std::size_t>(order)];
    if (known.empty()) known = told;
    if (known != told) ++contradicted_;
    ++answered_;
}

std::vector<std::string> crowd::ledger() const {
    const std::lock_guard lock{mutex_};
    std::vector<std::string> all;
    for (std::size_t i = 0; i < told_.size(); ++i) {
        if (!told_[i].empty()) all.push_back(order_key(static_cast<int>(i)) + " " + told_[i]);
    }
    std::sort(all.begin(), all.end());
    return all;
}

} // namespace semel::e2e
