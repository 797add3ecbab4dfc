// Entries of Redis streams as messages, and messages as dead letters. Pure.
#pragma once

#include <optional>
#include <string>

#include "consumer/source.hpp"
#include "databases/redis/client/resp.hpp"

namespace semel::consumer {

struct stream_entry {
    std::string id; // in the stream
    received what;
};

// [id, [field, value, …]]; none if the entry has been deleted. Entries that were not written by
// the sink have their fields as headers.
[[nodiscard]] std::optional<stream_entry> read_entry(const redis::value& from,
                                                     const std::string& stream);

// Appends the XADD that parks a message: all it carried, and why.
void append_dead_letter(std::string& to, const std::string& stream, const received& what,
                        const disposal& why);

} // namespace semel::consumer
