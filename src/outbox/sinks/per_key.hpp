// Order per key, as sinks keep it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include "semel/outbox/relay.hpp"

namespace semel::outbox {

[[nodiscard]] inline const std::string& key_of(const event& one) {
    return one.key.empty() ? one.id : one.key;
}

// The keys of a batch that have had a failure.
class stuck_keys {
public:
    explicit stuck_keys(order kept) : kept_(kept) {}

    void add(const event& one) {
        if (kept_ == order::per_key) keys_.insert(key_of(one));
    }
    [[nodiscard]] bool holds(const event& one) const {
        return !keys_.empty() && keys_.contains(key_of(one));
    }

private:
    const order kept_;
    std::unordered_set<std::string_view> keys_; // of the batch, which outlives this
};

// Nothing of batch[first…] has left: each is `later`, or `held` behind another of its key.
inline void give_back(std::span<const message> batch, order kept, std::span<delivery> answers,
                      std::string_view why, std::size_t first = 0) {
    stuck_keys stuck{kept};
    for (std::size_t i = 0; i < first; ++i) {
        if (answers[i].how != delivered::yes) stuck.add(batch[i].event);
    }
    for (std::size_t i = first; i < batch.size(); ++i) {
        const bool held = stuck.holds(batch[i].event);
        answers[i] = held ? delivery{.how = delivered::held}
                          : delivery{.how = delivered::later, .error = std::string{why}};
        stuck.add(batch[i].event);
    }
}

} // namespace semel::outbox
