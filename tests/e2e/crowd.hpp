// Clients that repeat themselves: two or three of them send each order, at the same time and again
// later, and none gives up before it has an answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace semel::e2e {

// The key of an order, by its number.
[[nodiscard]] std::string order_key(int nth);

class crowd {
public:
    // Orders from `first` to before `last`, through any of the gateways.
    crowd(std::vector<std::uint16_t> gateways, int first, int last, int clients);
    crowd(const crowd&) = delete;
    crowd& operator=(const crowd&) = delete;
    ~crowd();

    [[nodiscard]] int sends() const { return static_cast<int>(sends_.size()); }
    [[nodiscard]] int answered() const { return answered_; }
    [[nodiscard]] int tries() const { return tries_; }
    // Clients that were told something else than another one about the same order.
    [[nodiscard]] int contradicted() const { return contradicted_; }
    // "key number" of each order that was answered; something else where the answer was no number.
    [[nodiscard]] std::vector<std::string> ledger() const;

    // Those who have no answer yet go without.
    void give_up() { over_ = true; }
    void wait();

private:
    class client;
    void work(unsigned seed);
    void note(int order, const std::string& told);

    const std::vector<std::uint16_t> gateways_;
    std::vector<int> sends_; // orders, in the order they are sent
    std::atomic<std::size_t> next_ = 0;
    std::atomic<int> answered_ = 0;
    std::atomic<int> tries_ = 0;
    std::atomic<int> contradicted_ = 0;
    std::atomic<bool> over_ = false;
    mutable std::mutex mutex_;
    std::vector<std::string> told_; // by order; guarded by mutex_
    std::vector<std::thread> threads_;
};

} // namespace semel::e2e
