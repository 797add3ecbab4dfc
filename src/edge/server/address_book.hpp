// How many connections each address has, or each block of addresses.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "semel/base/mutex.hpp"

namespace semel::edge {

// Thread-safe; outlives its places.
class address_book {
public:
    // One connection of an address, until it is destroyed.
    class place {
    public:
        place() = default;
        place(address_book& in, std::string address) : in_(&in), address_(std::move(address)) {}
        place(place&& other) noexcept
            : in_(std::exchange(other.in_, nullptr)), address_(std::move(other.address_)) {}
        place& operator=(place&&) = delete;
        ~place() {
            if (in_ != nullptr) in_->leave(address_);
        }

    private:
        address_book* in_ = nullptr;
        std::string address_;
    };

    // None: it has that many already.
    [[nodiscard]] std::optional<place> enter(const std::string& address, std::size_t max) {
        const detail::guard lock{mutex_};
        std::size_t& count = open_[address];
        if (count >= max) return std::nullopt;
        ++count;
        return place{*this, address};
    }

private:
    void leave(const std::string& address) {
        const detail::guard lock{mutex_};
        const auto at = open_.find(address);
        if (--at->second == 0) open_.erase(at);
    }

    detail::mutex mutex_;
    std::unordered_map<std::string, std::size_t> open_ SEMEL_GUARDED_BY(mutex_);
};

} // namespace semel::edge
