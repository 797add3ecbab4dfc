// Logical idempotency: repeats recognised from the business state itself, without a record. For
// changes that are already "set to", not "add to". Header-only, pure, constexpr.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "semel/base/result.hpp"

namespace semel {

enum class move_outcome : std::uint8_t {
    moved,   // do it: the state becomes the wanted one
    already, // done before; nothing to do, answer as then
    refused, // not allowed from here
};

template <class State> struct move_result {
    move_outcome outcome;
    State state; // the state afterwards: the wanted one if moved, else the current one

    friend constexpr bool operator==(const move_result&, const move_result&) = default;
};

// The allowed moves of a state machine.
//
//   constexpr transitions<order_state> flow{
//       {created, paid}, {paid, shipped}, {created, cancelled}};
//   flow.move(created, paid)      moved
//   flow.move(paid, paid)         already
//   flow.move(shipped, paid)      already: the order was paid on its way to shipped
//   flow.move(cancelled, paid)    refused
//
// A move is *already* made if the current state is the wanted one or can be reached from it, since
// then the order has passed through it: a late repeat must not fail because the world went on. An
// allowed move always wins over that. So in a table with a cycle (active -> suspended -> active)
// state alone cannot tell a late repeat from a new wish: add a version_guard or a record there.
template <class State> class transitions {
public:
    struct edge {
        State from;
        State to;
    };
    static constexpr std::size_t edges_max = 128;

    // Precondition: at most edges_max edges.
    constexpr transitions(std::initializer_list<edge> allowed) : count_(allowed.size()) {
        SEMEL_ASSERT(allowed.size() <= edges_max);
        std::copy(allowed.begin(), allowed.end(), edges_.begin());
    }

    [[nodiscard]] constexpr move_result<State> move(State current, State wanted) const {
        if (current == wanted) return {move_outcome::already, current};
        if (allows(current, wanted)) return {move_outcome::moved, wanted};
        if (reaches(wanted, current)) return {move_outcome::already, current};
        return {move_outcome::refused, current};
    }

    [[nodiscard]] constexpr bool allows(State from, State to) const {
        for (std::size_t i = 0; i < count_; ++i) {
            if (edges_[i].from == from && edges_[i].to == to) return true;
        }
        return false;
    }

    // Is there a path of one or more moves?
    [[nodiscard]] constexpr bool reaches(State from, State to) const {
        std::array<bool, edges_max> taken{};
        bool grown = true;
        while (grown) {
            grown = false;
            for (std::size_t i = 0; i < count_; ++i) {
                if (taken[i] || !starts_on_path(i, from, taken)) continue;
                if (edges_[i].to == to) return true;
                taken[i] = true;
                grown = true;
            }
        }
        return false;
    }

private:
    [[nodiscard]] constexpr bool starts_on_path(std::size_t edge_index, State from,
                                                const std::array<bool, edges_max>& taken) const {
        if (edges_[edge_index].from == from) return true;
        for (std::size_t i = 0; i < count_; ++i) {
            if (taken[i] && edges_[i].to == edges_[edge_index].from) return true;
        }
        return false;
    }

    std::array<edge, edges_max> edges_{};
    std::size_t count_;
};

enum class version_outcome : std::uint8_t {
    apply,   // write it, with version + 1 and this change's name
    already, // this very change made the current version
    stale,   // others have written since; read again and decide again
    ahead,   // the change expects a version that does not exist yet: out of order, or a wrong row
};

// What a row keeps for a version_guard. `Change` names a change: a key, an event id, a fingerprint.
template <class Change = std::string> struct version_mark {
    std::uint64_t version = 0;
    Change last_change = {};

    friend constexpr bool operator==(const version_mark&, const version_mark&) = default;
};

// Optimistic locking that knows its own repeats. A plain version check answers a repeat with a
// conflict, because the first try has moved the version on. The name of the last change, kept
// beside the version, distinguishes a repeat from another writer's change. Only the last change is
// known: a repeat that comes after a further change is `stale`.
template <class Change = std::string> class version_guard {
public:
    constexpr version_guard(std::uint64_t expected, Change change)
        : expected_(expected), change_(std::move(change)) {}

    [[nodiscard]] constexpr version_outcome check(const version_mark<Change>& row) const {
        if (row.version == expected_) return version_outcome::apply;
        if (row.version < expected_) return version_outcome::ahead;
        const bool ours = row.version - expected_ == 1 && row.last_change == change_;
        return ours ? version_outcome::already : version_outcome::stale;
    }

    // What the row keeps after the change was applied.
    [[nodiscard]] constexpr version_mark<Change> applied() const {
        return {.version = expected_ + 1, .last_change = change_};
    }

private:
    std::uint64_t expected_;
    Change change_;
};

} // namespace semel
