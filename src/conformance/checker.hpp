// The model beside the store: executes each step on both and compares.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "semel/conformance.hpp"
#include "semel/core/record_machine.hpp"
#include "semel/store.hpp"

namespace semel::conformance {

// A command or a sweep; `now` is always set.
using step = std::variant<envelope, sweep_request>;

[[nodiscard]] std::string text(const step& what);

// What the model knows about one record id.
struct known {
    // The states that the store may be in. There is more than one only while it is unknown whether
    // a record that may be removed has been removed. The next answer about the record decides.
    std::vector<std::optional<record>> possible = {std::nullopt};
    std::uint64_t last_fence = 0;
    std::vector<claim> claims = {}; // issued so far
    commands::release undo = {};    // of the last attempt
    std::vector<audit_entry> audit = {};
};

// Not thread-safe.
class checker {
public:
    checker(store& tested, const subject& what) : store_(tested), subject_(what) {}

    // The difference, if there is one.
    [[nodiscard]] std::optional<std::string> take(const step& what);
    [[nodiscard]] std::optional<std::string> compare_audits();

    [[nodiscard]] const known& about(const record_id& id) { return records_[id]; }
    [[nodiscard]] const std::map<std::string, std::size_t>& seen() const { return seen_; }

private:
    [[nodiscard]] std::optional<std::string> run(const envelope& what);
    [[nodiscard]] std::optional<std::string> run(const sweep_request& what);
    [[nodiscard]] std::optional<std::string> compare(known& it, const envelope& what,
                                                     const answer& got);
    [[nodiscard]] std::optional<std::string> check_fence(const known& it, std::uint64_t fence,
                                                         time_point now) const;
    void may_have_purged(time_point now);

    store& store_;
    const subject& subject_;
    std::map<record_id, known> records_;
    std::map<std::string, std::size_t> seen_;
    std::uint64_t highest_fence_ = 0;
};

} // namespace semel::conformance
