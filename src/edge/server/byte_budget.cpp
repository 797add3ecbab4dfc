#include "edge/server/byte_budget.hpp"

#include <algorithm>
#include <vector>

#include "semel/base/mutex.hpp"

namespace semel::edge {
namespace {

using clock = byte_budget::clock;

// Bytes per second since the body began. In the first moment there is no rate.
double rate_of(const byte_budget::body& one, std::size_t bytes, clock::time_point now) {
    const std::chrono::duration<double> age = now - one.since;
    return static_cast<double>(bytes) / std::max(age.count(), 0.001);
}

} // namespace

void byte_budget::enter(body& one) {
    const detail::guard lock{mutex_};
    bodies_.insert(&one);
}

void byte_budget::leave(body& one) {
    {
        const detail::guard lock{mutex_};
        bodies_.erase(&one);
    }
    give_back(one.bytes.exchange(0));
}

bool byte_budget::settle(body& one) {
    const detail::guard lock{mutex_};
    one.coming = false;
    return !one.cut;
}

// Cuts no other body off if that would not make enough room.
bool byte_budget::take_from_others(std::size_t bytes, const body& asks) {
    const detail::guard lock{mutex_};
    holdings held;
    for (const body* one : bodies_) held[one->from] += one->bytes;
    held[asks.from] += bytes;
    std::vector<body*> leaving;
    std::size_t freed = 0;
    while (taken() + bytes > bytes_max_ + freed) {
        body* const one = slowest(held, bytes, asks);
        if (one == nullptr) break;
        one->leaving = true;
        leaving.push_back(one);
        freed += one->bytes;
        held[one->from] -= one->bytes;
    }
    const bool enough = taken() + bytes <= bytes_max_ + freed;
    for (body* one : leaving) {
        one->leaving = enough;
        if (!enough) continue;
        one->cut = true;
        give_back(one->bytes.exchange(0));
    }
    return enough && take(bytes);
}

// Of another address only where that holds more than the one that asks; of the same address only
// what is slower.
byte_budget::body* byte_budget::slowest(const holdings& held, std::size_t bytes,
                                        const body& asks) const {
    const auto now = clock::now();
    const std::size_t own = held.at(asks.from);
    const double own_rate = rate_of(asks, asks.bytes + bytes, now);
    body* found = nullptr;
    double found_rate = 0;
    for (body* one : bodies_) {
        if (!one->coming || one->leaving || one == &asks || now - one->since < slow_after_) {
            continue;
        }
        const std::size_t all = held.at(one->from);
        const double rate = rate_of(*one, one->bytes, now);
        if (one->from == asks.from ? rate >= own_rate : all <= own) continue;
        const std::size_t most = found == nullptr ? 0 : held.at(found->from);
        if (all < most || (all == most && rate >= found_rate)) continue;
        found = one;
        found_rate = rate;
    }
    return found;
}

void budget_share::comes_from(std::uint64_t address, clock::time_point since) {
    if (of_ == nullptr) return;
    body_ = std::make_unique<byte_budget::body>();
    body_->from = address;
    body_->since = since;
    of_->enter(*body_);
}

void budget_share::add(std::size_t bytes) {
    if (body_) {
        body_->bytes += bytes;
    } else {
        bytes_ += bytes;
    }
}

bool budget_share::grow_to(std::size_t bytes) {
    if (of_ == nullptr || bytes <= free_bytes) return true;
    if (was_cut()) return false;
    const std::size_t has = held();
    if (bytes <= has) return true;
    const std::size_t more = bytes - has;
    if (!of_->take(more) && (!body_ || !of_->take_from_others(more, *body_))) return false;
    add(more);
    return true;
}

void budget_share::hold(std::size_t bytes) {
    if (of_ == nullptr || bytes <= held()) return;
    const std::size_t more = bytes - held();
    of_->take_anyway(more);
    add(more);
}

void budget_share::release() {
    if (body_) {
        of_->leave(*body_);
        body_.reset();
    }
    if (bytes_ > 0) of_->give_back(std::exchange(bytes_, 0));
}

} // namespace semel::edge
