// One remembered record of the near cache, in one allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "semel/base/time.hpp"
#include "semel/core/command.hpp"
#include "semel/core/record.hpp"

namespace semel {

enum class cached_kind : std::uint8_t {
    claimed, // an attempt runs; answers nothing, but knows what its completion will answer to
    replay,
    failed,
};

// Entries made under a test's time answer only under a test's time, and the other way round.
enum class time_source : std::uint8_t { store, test };

// When a command is judged: this machine's time, and a test's if it gave one.
struct cached_moment {
    local_time local = {};
    std::optional<time_point> test = {};

    [[nodiscard]] time_source source() const {
        return test ? time_source::test : time_source::store;
    }
};

// Names a record; never outlives `id`.
struct cached_probe {
    std::uint64_t hash; // local_hash_of(id)
    const record_id* id;
};

// The parts of variable size: a failure has only a body, its error.
struct cached_texts {
    std::string_view body = {};
    std::string_view type = {};
    std::string_view ref = {};
};

class cached_entry {
public:
    struct facts {
        cached_kind kind = cached_kind::claimed;
        time_source source = time_source::store;
        result_kind result = result_kind::value;
        std::optional<fingerprint> content = {}; // of the begin that was answered
        time_point now = {};                     // the store's time of the answer
        local_time sent = {};                    // before the store was asked
        time_point expires_at = {};
        claim by = {}; // claimed: the attempt; replay: the record's fence
        std::uint64_t checksum = 0;
        std::uint32_t attempts = 0;
    };
    struct deleter {
        void operator()(cached_entry* one) const noexcept;
    };
    using pointer = std::unique_ptr<cached_entry, deleter>;

    [[nodiscard]] static pointer make(const cached_probe& of, const facts& known,
                                      const cached_texts& texts = {});
    // What such an entry counts towards the byte bound.
    [[nodiscard]] static std::size_t bytes_for(const record_id& id, const cached_texts& texts = {});

    [[nodiscard]] std::uint64_t hash() const { return hash_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    [[nodiscard]] bool is(const cached_probe& of) const;
    // Precondition: not claimed.
    [[nodiscard]] answer said() const;

private:
    cached_entry(const cached_probe& of, const facts& with, const cached_texts& texts);
    [[nodiscard]] const char* chars() const { return reinterpret_cast<const char*>(this + 1); }

    std::uint64_t hash_;
    std::uint32_t tenant_bytes_;
    std::uint32_t operation_bytes_;
    std::uint32_t key_bytes_;
    std::uint32_t body_bytes_;
    std::uint32_t type_bytes_;
    std::uint32_t ref_bytes_;
    std::size_t bytes_;

public:
    facts known;
    std::size_t place = 0; // in the shard's ring
    bool recent = false;   // asked for since the clock hand last passed
};

} // namespace semel
