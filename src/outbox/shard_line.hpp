// The rows of one shard that an ordered worker has read and not yet delivered. Pure.
//
// Only rows of keys that are not in trouble are kept. A key that fails is closed: its rows are
// forgotten, for they are in the table, and it opens again when the shard is read from its start.
// So what is here is always, key by key, the lowest rows there are.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "semel/outbox/event.hpp"
#include "semel/time.hpp"

namespace semel::outbox {

class shard_line {
public:
    // The shard is about to be read from its start. Keys whose time has come are open again.
    void restart(local_time now, std::vector<std::string> parked);

    // Where to read on.
    [[nodiscard]] std::int64_t after() const { return after_; }

    // What was read, in its order. Those of parked keys are returned: they are not to be read
    // again.
    std::vector<std::int64_t> add(std::vector<message> rows);

    // Up to `most`, the lowest first.
    [[nodiscard]] std::vector<message> take(std::size_t most);

    // The key does not go on before `until`.
    void close(const std::string& key, local_time until);
    void park(const std::string& key);

    [[nodiscard]] std::size_t size() const { return waiting_.size(); }
    // When the first closed key can go on.
    [[nodiscard]] std::optional<local_time> opens() const;

private:
    void forget(const std::string& key);

    std::deque<message> waiting_;
    std::unordered_map<std::string, local_time> closed_;
    std::unordered_set<std::string> parked_;
    std::int64_t after_ = 0;
};

} // namespace semel::outbox
