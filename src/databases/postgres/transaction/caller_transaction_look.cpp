// The record as a transaction sees it.
#include "databases/postgres/store/row.hpp"
#include "databases/postgres/transaction/caller_transaction.hpp"
#include "databases/postgres/transaction/transaction_failures.hpp"
#include "databases/postgres/transaction/transaction_values.hpp"

namespace semel::postgres {

namespace {

// Columns of `look`.
constexpr int now_column = 0;
constexpr int floor_column = 1;
constexpr int record_column = 2;
constexpr int table_column = 3;

// Before a record with another number of checkpoints than it says is a broken one.
constexpr int looks_max = 10;

} // namespace

result<void> caller_transaction::read_look(const rows& seen, held_key& key, locked_record& to) {
    key.has_checkpoints = false;
    if (seen.count() == 0) return no_floor();
    if (auto same = check_same_place(seen); !same) return same;
    key.table = seen.bytes(0, table_column);
    to.stored.reset();
    to.at = {.now = read_timestamp(seen.bytes(0, now_column)),
             .fence_floor = static_cast<std::uint64_t>(seen.integer(0, floor_column))};
    if (seen.is_null(0, record_column)) return {};
    auto read = read_record(seen.bytes(0, record_column));
    if (!read) return std::move(read).error();
    key.has_checkpoints = !read->checkpoints.empty();
    key.seen_at = read->updated_at;
    to.stored = *std::move(read);
    return {};
}

failure caller_transaction::no_floor() const {
    return refused(errc::corrupt, "the fence floor is missing in the table " +
                                      options_.table_prefix + "meta; restore it");
}

// With its checkpoints. A lease does not take the lock: it may get some, or lose them, between the
// look and the one behind it.
task<result<void>> caller_transaction::read_whole(result<void> read, held_key& key,
                                                  locked_record& to) {
    for (int turn = 1;; ++turn) {
        if (read && key.has_checkpoints) {
            auto filled = co_await read_steps(key, to.stored->checkpoints);
            read = std::move(filled);
        }
        if (read || read.error().code != errc::corrupt || turn == looks_max) co_return read;
        const std::vector<call> again{{texts_.look.name, id_values(key.id)}};
        auto seen = co_await on_.pipeline(again);
        if (!seen) co_return std::move(seen).error();
        read = read_look(seen->back(), key, to);
    }
}

task<result<void>> caller_transaction::read_steps(const held_key& key,
                                                  std::vector<checkpoint>& to) {
    const std::vector<call> what{{texts_.steps.name, id_values(key.id)}};
    const auto got = co_await on_.pipeline(what);
    if (!got) co_return got.error();
    const rows& all = got->front();
    if (all.count() != static_cast<int>(to.size())) {
        co_return refused(errc::corrupt, "a record has not as many checkpoints as it says");
    }
    for (int row = 0; row < all.count(); ++row) {
        to[static_cast<std::size_t>(row)] = {.name = std::string{all.bytes(row, 0)},
                                             .data = std::string{all.bytes(row, 1)}};
    }
    co_return result<void>{};
}

// What is not there may be somewhere else: a new connection has the search path it began with, and
// may have come to another server.
result<void> caller_transaction::check_same_place(const rows& seen) {
    const std::string_view place = seen.bytes(0, table_column);
    if (!std::exchange(made_anew_, false)) {
        looked_in_ = place;
        return {};
    }
    if (looked_in_.empty() || looked_in_ == place) return {};
    return refused(
        errc::unavailable,
        "the connection was lost during COMMIT, and made anew it finds other tables; put "
        "the search_path into the connection's options");
}

} // namespace semel::postgres
