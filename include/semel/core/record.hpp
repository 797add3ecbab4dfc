// The stored state of one record id. Plain values; no thread-safety of their own.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "semel/base/time.hpp"
#include "semel/core/policy.hpp"
#include "semel/fingerprint.hpp"

namespace semel {

// The identity of one request. Bytes: compared case-sensitively, never trimmed or normalised.
struct record_id {
    std::string tenant;
    std::string operation;
    std::string key;

    friend bool operator==(const record_id&, const record_id&) = default;
    friend std::strong_ordering operator<=>(const record_id&, const record_id&) = default;
};

// 64-bit hash of the length-prefixed parts; the same in every process and version.
[[nodiscard]] std::uint64_t hash_of(const record_id& id);

// 128 random bits drawn for one attempt. Compared together with the fence, so that a repeated
// number can never match. All zero means no owner.
struct owner_id {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    friend bool operator==(const owner_id&, const owner_id&) = default;
};

// One attempt's right to change the record: both parts must be the record's own.
struct claim {
    std::uint64_t fence = 0;
    owner_id owner = {};

    friend bool operator==(const claim&, const claim&) = default;
};

// The numbers are stored: they never change.
enum class record_state : std::uint8_t {
    processing = 0,       // an attempt runs, or its lease has lapsed
    succeeded = 1,        // has a result, which answers repeats
    failed_retryable = 2, // the same request may run again
    failed_final = 3,     // has an error, which answers repeats
};

[[nodiscard]] std::string_view name(record_state state);

enum class result_kind : std::uint8_t {
    value = 0,     // the work's answer
    rejection = 1, // a business "no", stored and replayed like an answer
    tombstone = 2, // the effect took place, the body was not kept (too large, or not encodable)
};

// The answer of work as a store keeps it: bytes, what they are, and a checksum.
struct stored_result {
    result_kind kind = result_kind::value;
    std::string body = {};
    std::string type = {};      // content type or codec name
    std::string ref = {};       // small stable reference, usually a public id
    std::uint64_t checksum = 0; // of body, set by seal(); a result that fails it is never replayed

    friend bool operator==(const stored_result&, const stored_result&) = default;
};

// Sets the checksum; holds(result) tells whether it still fits.
void seal(stored_result& result);
[[nodiscard]] bool holds(const stored_result& result);

// A result whose checksum fits. Making one from a stored_result seals it; only its holder can take
// it out again. Plain value.
class sealed_result {
public:
    sealed_result() : sealed_result(stored_result{}) {}
    sealed_result(stored_result what) : it_(std::move(what)) { seal(it_); }

    const stored_result& operator*() const& { return it_; }
    stored_result&& operator*() && { return std::move(it_); }
    const stored_result* operator->() const { return &it_; }

private:
    stored_result it_;
};

// A named step whose result is kept inside a running record.
struct checkpoint {
    std::string name;
    std::string data;

    friend bool operator==(const checkpoint&, const checkpoint&) = default;
};

// What a store keeps about one record id. Which fields count depends on the state, as the comments
// say; the others are empty. `apply` (record_machine.hpp) makes and changes records, other code
// reads them.
struct record {
    record_state state = record_state::processing;
    record_policy policy = {};
    std::optional<fingerprint> content = {};
    claim holder = {}; // the last attempt; its owner is zero after an operator's verdict
    std::uint32_t attempts = 0;
    time_point lease_until = {};
    time_point begun_at = {};    // of the last attempt
    time_point retry_after = {}; // failed_retryable only
    stored_result result = {};   // succeeded only
    std::string error = {};      // failed only
    std::string attributes = {}; // small JSON of the domain's own
    std::vector<checkpoint> checkpoints = {};
    time_point created_at = {};
    time_point updated_at = {};
    time_point expires_at = {}; // finished only

    friend bool operator==(const record&, const record&) = default;
};

} // namespace semel
