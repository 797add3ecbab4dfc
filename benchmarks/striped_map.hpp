// The floor of any memory store: a hash map behind striped locks, and nothing else.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <string>

#include "semel/fingerprint.hpp"

namespace semel::bench {

// Thread-safe.
class striped_map {
public:
    // Takes the key unless it is there.
    bool claim(const std::string& key, const fingerprint& content, std::uint64_t token) {
        stripe& on = at(key);
        const std::lock_guard lock{on.mutex};
        const auto [found, first] = on.records.try_emplace(key);
        if (!first) return false;
        found->second.content = content;
        found->second.token = token;
        found->second.lease = 30'000;
        return true;
    }

    bool complete(const std::string& key, std::uint64_t token, const std::string& body) {
        stripe& on = at(key);
        const std::lock_guard lock{on.mutex};
        const auto found = on.records.find(key);
        if (found == on.records.end() || found->second.token != token) return false;
        found->second.state = 1;
        found->second.body = body;
        return true;
    }

    bool replay(const std::string& key, const fingerprint& content, std::string& body) {
        stripe& on = at(key);
        const std::lock_guard lock{on.mutex};
        const auto found = on.records.find(key);
        if (found == on.records.end() || found->second.content != content) return false;
        body = found->second.body;
        return true;
    }

private:
    struct record {
        std::uint64_t token = 0;
        std::uint64_t lease = 0;
        std::uint32_t state = 0;
        std::uint32_t status = 0;
        std::string body = {};
        fingerprint content{fingerprint::bytes_type{}};
    };
    struct alignas(64) stripe {
        std::mutex mutex;
        absl::flat_hash_map<std::string, record> records;
    };

    // Not the bits that choose the slot inside a stripe.
    stripe& at(const std::string& key) {
        return stripes_[(std::hash<std::string>{}(key) >> 17) % stripes_.size()];
    }

    std::array<stripe, 256> stripes_;
};

} // namespace semel::bench
