#include "outbox/shard_line.hpp"

#include <algorithm>
#include <utility>

namespace semel::outbox {

void shard_line::restart(local_time now, std::vector<std::string> parked) {
    waiting_.clear();
    after_ = 0;
    std::erase_if(closed_, [&](const auto& one) { return one.second <= now; });
    parked_ = {parked.begin(), parked.end()};
}

std::vector<std::int64_t> shard_line::add(std::vector<message> rows) {
    std::vector<std::int64_t> behind_dead;
    for (message& one : rows) {
        after_ = std::max(after_, one.row);
        if (parked_.contains(one.event.key)) {
            behind_dead.push_back(one.row);
        } else if (!closed_.contains(one.event.key)) {
            waiting_.push_back(std::move(one));
        }
    }
    return behind_dead;
}

std::vector<message> shard_line::take(std::size_t most) {
    std::vector<message> made;
    made.reserve(std::min(most, waiting_.size()));
    while (!waiting_.empty() && made.size() < most) {
        made.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
    }
    return made;
}

void shard_line::close(const std::string& key, local_time until) {
    auto& when = closed_[key];
    when = std::max(when, until);
    forget(key);
}

void shard_line::park(const std::string& key) {
    parked_.insert(key);
    forget(key);
}

void shard_line::forget(const std::string& key) {
    std::erase_if(waiting_, [&](const message& one) { return one.event.key == key; });
}

std::optional<local_time> shard_line::opens() const {
    std::optional<local_time> first;
    for (const auto& one : closed_) {
        if (!first || one.second < *first) first = one.second;
    }
    return first;
}

} // namespace semel::outbox
