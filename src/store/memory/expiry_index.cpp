#include "store/memory/expiry_index.hpp"

#include <algorithm>
#include <bit>

namespace semel {

namespace {

// The end of the bucket that `due` falls into.
time_point bucket_of(time_point due, time_point now) {
    constexpr std::uint64_t smallest_span = 1 << 16; // 65 ms in µs
    const auto ahead = static_cast<std::uint64_t>(std::max<duration::rep>(0, (due - now).count()));
    const auto span =
        static_cast<duration::rep>(std::max(smallest_span, std::bit_floor(ahead / 16 + 1)));
    const auto at = std::max<duration::rep>(0, due.time_since_epoch().count());
    return time_point{duration{(at / span + 1) * span}};
}

} // namespace

void expiry_index::add(std::uint64_t hash, time_point due, time_point now) {
    buckets_[bucket_of(due, now)].push_back(hash);
    ++size_;
}

std::optional<std::uint64_t> expiry_index::take_due(time_point now) {
    const auto first = buckets_.begin();
    if (first == buckets_.end() || first->first > now) return std::nullopt;
    const std::uint64_t hash = first->second.back();
    first->second.pop_back();
    --size_;
    if (first->second.empty()) buckets_.erase(first);
    return hash;
}

} // namespace semel
