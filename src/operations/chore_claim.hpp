// A chore about a stuck record, claimed by a record of its own so that one instance of many does
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/chore.hpp"
#include "semel/core/search.hpp"
#include "semel/store.hpp"

namespace semel {

// The record that claims `chore` ("ask", "alert") about this attempt of that record.
[[nodiscard]] record_id chore_id(std::string_view chore, const found_record& about);

// Blocking. One thread at a time.
class chore_claim {
public:
    // `now` is for tests only.
    chore_claim(store& records, record_id id, std::optional<time_point> now)
        : records_(records), id_(std::move(id)), now_(now) {}

    // False: another instance does the chore or has done it, or the chore is not due again yet.
    [[nodiscard]] result<bool> take(duration lease);
    // From 1; how often it has been taken.
    [[nodiscard]] std::uint32_t attempt() const { return attempt_; }

    // The chore is done, and must not be done again before `retention` is over.
    [[nodiscard]] result<void> done_for(duration retention);
    // The chore may be done again after `delay`.
    [[nodiscard]] result<void> again_after(duration delay);
    // Gives the chore back as if it had never been taken.
    [[nodiscard]] result<void> give_up();

private:
    [[nodiscard]] result<void> end(command how);

    store& records_;
    const record_id id_;
    const std::optional<time_point> now_;
    claim by_ = {};
    std::uint32_t attempt_ = 0;
};

} // namespace semel
