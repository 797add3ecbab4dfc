// A bound on the bodies that are held at the same time, of all connections together.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace semel::edge {

inline constexpr std::size_t default_buffered_bytes_max = std::size_t{256} << 20U;

// Thread-safe.
class byte_budget {
public:
    explicit byte_budget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

    [[nodiscard]] bool take(std::size_t bytes) {
        if (taken_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= bytes_max_) return true;
        give_back(bytes);
        return false;
    }
    void give_back(std::size_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }
    [[nodiscard]] std::size_t taken() const { return taken_.load(std::memory_order_relaxed); }

private:
    const std::size_t bytes_max_;
    std::atomic<std::size_t> taken_ = 0;
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
        : of_(std::move(other.of_)), bytes_(std::exchange(other.bytes_, 0)) {}
    budget_share& operator=(budget_share&& other) noexcept {
        if (this == &other) return *this;
        release();
        of_ = std::move(other.of_);
        bytes_ = std::exchange(other.bytes_, 0);
        return *this;
    }
    ~budget_share() { release(); }

    // The body has so many bytes now. False: there is no room, and the share is as it was.
    [[nodiscard]] bool grow_to(std::size_t bytes) {
        if (of_ == nullptr || bytes <= free_bytes || bytes <= bytes_) return true;
        if (!of_->take(bytes - bytes_)) return false;
        bytes_ = bytes;
        return true;
    }
    void release() {
        if (bytes_ > 0) of_->give_back(std::exchange(bytes_, 0));
    }

private:
    std::shared_ptr<byte_budget> of_; // shared by all connections
    std::size_t bytes_ = 0;
};

} // namespace semel::edge
