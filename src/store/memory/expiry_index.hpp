// Which records may be due for purging, found without looking at the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "semel/base/time.hpp"

namespace semel {

// Record hashes in buckets of time. A bucket spans about a sixteenth of the way to it, so there are
// few buckets, appending touches one cache line, and a record goes at most 1/16 too late. Entries
// are hints: the record may have been removed or prolonged meanwhile; the owner re-checks.
class expiry_index {
public:
    void add(std::uint64_t hash, time_point due, time_point now);

    // Takes one hint whose time has come: never before its `due`.
    std::optional<std::uint64_t> take_due(time_point now);

    [[nodiscard]] std::size_t size() const { return size_; }

private:
    std::map<time_point, std::vector<std::uint64_t>> buckets_; // by the end of their span
    std::size_t size_ = 0;
};

} // namespace semel
