// The rows of one shard that an ordered worker has read and not yet delivered. Pure.
//
// The line keeps only rows of keys that are open. A key that fails is closed: the line forgets its
// rows (they are in the table), and the key opens again when the shard is read from its start. So
// the line always holds, for each key, the lowest rows that there are.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "semel/base/time.hpp"
#include "semel/outbox.hpp"

namespace semel::outbox {

class shard_line {
public:
    // Call it before the shard is read from its start: opens the keys whose retry is due.
    void restart(local_time now, std::vector<std::string> parked);

    // The row after which to read on.
    [[nodiscard]] std::int64_t after() const { return after_; }

    // Adds rows that were read, in their order. Returns those of parked keys, which must not be
    // read again.
    std::vector<std::int64_t> add(std::vector<message> rows);

    // Up to `most`, the lowest first.
    [[nodiscard]] std::vector<message> take(std::size_t most);

    // Closes the key until `until`.
    void close(const std::string& key, local_time until);
    void park(const std::string& key);

    [[nodiscard]] std::size_t size() const { return waiting_.size(); }
    // When the first closed key can open.
    [[nodiscard]] std::optional<local_time> opens() const;

private:
    void forget(const std::string& key);

    std::deque<message> waiting_;
    std::unordered_map<std::string, local_time> closed_;
    std::unordered_set<std::string> parked_;
    std::int64_t after_ = 0;
};

} // namespace semel::outbox
