#include "sim/database.hpp"

#include <algorithm>
#include <utility>

namespace semel::sim {

const record* database::find(const record_id& id) const {
    const auto found = records_.find(id);
    return found == records_.end() ? nullptr : &found->second;
}

reply database::apply(const record_id& id, const command& what, std::optional<time_point> given) {
    const instant at = this->at(given);
    const record* stored = find(id);
    const std::optional<record> before = stored ? std::optional{*stored} : std::nullopt;
    applied done = semel::apply(before ? &*before : nullptr, command{what}, at);
    if (done.what == change::put) records_[id] = *std::move(done.after);
    if (done.what == change::erase) {
        floor_ = std::max(floor_, before->holder.fence);
        records_.erase(id);
    }
    scene_.say("db ", text_of(id), " ", name(what), " -> ", name(done.said));
    if (observer_) {
        observer_({.id = id,
                   .what = what,
                   .before = before ? &*before : nullptr,
                   .after = find(id),
                   .said = done.said,
                   .now = at.now,
                   .changed = done.what != change::none});
    }
    if (done.what != change::none) tell(id, before ? &*before : nullptr);
    return {.said = std::move(done.said), .now = at.now};
}

void database::tell(const record_id& id, const record* before) {
    const record* after = find(id);
    const auto runs = [](const record* one) {
        return one != nullptr && one->state == record_state::processing;
    };
    if (!runs(before) || runs(after)) return;
    for (const auto& [serial, one] : listeners_) {
        if (one.id == id) one.heard();
    }
}

void database::save(const record_id& id, const record& after, unsigned effects) {
    const record* stored = find(id);
    const std::optional<record> before = stored ? std::optional{*stored} : std::nullopt;
    records_[id] = after;
    scene_.say("db ", text_of(id), " transaction -> ", name(after.state));
    if (transaction_observer_) {
        transaction_observer_({.id = id,
                               .before = before ? &*before : nullptr,
                               .after = after,
                               .now = now(),
                               .effects = effects});
    }
}

void database::damage(const record_id& id, std::size_t byte) {
    auto& body = records_.at(id).result.body;
    char& at = body[byte % body.size()];
    at = static_cast<char>(at ^ 0x10);
}

} // namespace semel::sim
