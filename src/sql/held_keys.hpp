// The keys of a transaction on the application's connection, and its end, for all SQL databases.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "semel/base/result.hpp"
#include "semel/core/record.hpp"

namespace semel::sql {

// What drivers refuse, in the same words.
struct refusals {
    const char* driver;

    [[nodiscard]] failure of(errc code, std::string detail) const {
        return {.code = code,
                .possible = effect::none,
                .detail = std::string{driver} + ": " + std::move(detail)};
    }
    // The work has not left the transaction as it found it.
    [[nodiscard]] failure broken(std::string detail) const {
        return of(errc::transaction_broken, std::move(detail));
    }
    [[nodiscard]] failure no_prefix(const std::string& text) const {
        return of(errc::invalid_argument, "'" + text + "' is not a table prefix");
    }
    [[nodiscard]] failure in_transaction() const {
        return of(errc::invalid_argument,
                  "the connection is in a transaction already; end it, or use execute_in");
    }
    [[nodiscard]] failure in_no_transaction() const {
        return of(errc::invalid_argument,
                  "the connection is in no transaction; begin one, or use transact");
    }
    [[nodiscard]] failure over() const { return broken("the transaction is over"); }
    [[nodiscard]] failure not_locked() const {
        return broken("the record was not locked in this transaction");
    }
};

// Whose transaction is open on a connection.
enum class phase : std::uint8_t {
    none,
    begun,   // ours; BEGIN waits for the first key
    ours,    // ours, and at the server
    callers, // joined
};

// The keys between their look-up and their write, the innermost last. Key has an `id`, and
// `outermost`: true for the first key of a transaction of ours.
template <class Key> class held_keys {
public:
    [[nodiscard]] phase now() const { return now_; }

    void begin() {
        now_ = phase::begun;
        keys_.clear();
    }
    // Within the work of transact() the transaction stays ours.
    void join() {
        now_ = now_ == phase::none || now_ == phase::callers ? phase::callers : phase::ours;
    }
    void sent() {
        if (now_ == phase::begun) now_ = phase::ours;
    }
    void end() {
        now_ = phase::none;
        keys_.clear();
    }

    void add(Key key) { keys_.push_back(std::move(key)); }

    // Takes the key out, and all keys that were added after it: calls nest.
    [[nodiscard]] std::optional<Key> take(const record_id& id) {
        const auto at = std::find_if(keys_.rbegin(), keys_.rend(),
                                     [&](const Key& one) { return one.id == id; });
        if (at == keys_.rend()) return std::nullopt;
        Key key = std::move(*at);
        keys_.erase(std::next(at).base(), keys_.end());
        return key;
    }

    // Our own COMMIT follows at once and takes the record along. A record that the caller commits
    // must be written now.
    [[nodiscard]] bool goes_with_commit(const Key& key) const {
        return now_ == phase::ours && key.outermost;
    }

private:
    phase now_ = phase::none;
    std::vector<Key> keys_;
};

} // namespace semel::sql
