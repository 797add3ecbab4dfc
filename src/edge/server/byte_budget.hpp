// A bound on the bodies that are held at the same time, of all connections of a server together.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "semel/base/mutex.hpp"
#include "semel/base/time.hpp"

namespace semel::edge {

inline constexpr std::size_t default_buffered_bytes_max = std::size_t{256} << 20U;

// Thread-safe. While there is room, every body may take it. If there is none, the address that
// holds the most gives way: the slowest of its bodies that are still coming is cut off.
class byte_budget {
public:
    using clock = std::chrono::steady_clock;

    // A body is not called slow before `slow_after`.
    explicit byte_budget(std::size_t bytes_max, duration slow_after = std::chrono::seconds{5})
        : bytes_max_(bytes_max), slow_after_(slow_after) {}

    [[nodiscard]] bool take(std::size_t bytes) {
        if (taken_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= bytes_max_) return true;
        give_back(bytes);
        return false;
    }
    // Without a bound: for what is under way and cannot wait.
    void take_anyway(std::size_t bytes) { taken_.fetch_add(bytes, std::memory_order_relaxed); }
    void give_back(std::size_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }
    [[nodiscard]] std::size_t taken() const { return taken_.load(std::memory_order_relaxed); }

    // A body that a client sends.
    struct body {
        std::uint64_t from = 0; // bodies of one address have the same number
        clock::time_point since = {};
        std::atomic<std::size_t> bytes = 0;
        std::atomic<bool> cut = false;
        // Guarded by the budget's mutex.
        bool coming = true;
        bool leaving = false;
    };
    void enter(body& one);
    void leave(body& one);
    // The body is whole and cannot be cut off any more. False: it has been.
    [[nodiscard]] bool settle(body& one);
    // Takes the room for more of `asks`, from others if need be.
    [[nodiscard]] bool take_from_others(std::size_t bytes, const body& asks);

private:
    using holdings = std::unordered_map<std::uint64_t, std::size_t>; // by address
    [[nodiscard]] body* slowest(const holdings& held, std::size_t bytes, const body& asks) const
        SEMEL_REQUIRES(mutex_);

    const std::size_t bytes_max_;
    const duration slow_after_;
    std::atomic<std::size_t> taken_ = 0;
    detail::mutex mutex_;
    std::unordered_set<body*>
        bodies_ SEMEL_GUARDED_BY(mutex_); // each leaves before it is destroyed
};

// What one body has of it; given back at the end. One thread at a time.
class budget_share {
public:
    // Small bodies are not counted: how many there can be is bounded by the connections, and most
    // requests are spared the shared counter.
    static constexpr std::size_t free_bytes = std::size_t{4} << 10U;

    budget_share() = default;
    explicit budget_share(std::shared_ptr<byte_budget> of) : of_(std::move(of)) {}
    budget_share(budget_share&& other) noexcept
        : of_(std::move(other.of_)),
          bytes_(std::exchange(other.bytes_, 0)),
          body_(std::move(other.body_)) {}
    budget_share& operator=(budget_share&& other) noexcept {
        if (this == &other) return *this;
        release();
        of_ = std::move(other.of_);
        bytes_ = std::exchange(other.bytes_, 0);
        body_ = std::move(other.body_);
        return *this;
    }
    ~budget_share() { release(); }

    // Names the address that the body comes from. Call it once, before the body grows.
    void comes_from(std::uint64_t address, byte_budget::clock::time_point since);
    [[nodiscard]] bool is_known() const { return body_ != nullptr; }
    // Tells the budget the body's present size. False: there is no room, and the share is as it
    // was.
    [[nodiscard]] bool grow_to(std::size_t bytes);
    // As grow_to, without a bound.
    void hold(std::size_t bytes);
    // True if the room was given to others: drop the body.
    [[nodiscard]] bool was_cut() const { return body_ != nullptr && body_->cut; }
    // The body is whole. False: it was cut.
    [[nodiscard]] bool settle() { return body_ == nullptr || of_->settle(*body_); }
    void release();

private:
    [[nodiscard]] std::size_t held() const { return body_ ? body_->bytes.load() : bytes_; }
    void add(std::size_t bytes);

    std::shared_ptr<byte_budget> of_; // shared by all connections
    std::size_t bytes_ = 0;           // where there is no body_
    std::unique_ptr<byte_budget::body> body_;
};

} // namespace semel::edge
