// The record as a transaction sees it.
#include "stores/postgres/caller_transaction.hpp"
#include "stores/postgres/row.hpp"
#include "stores/postgres/transaction_failures.hpp"
#include "stores/postgres/transaction_values.hpp"

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

// A lease does not take the lock: it may get checkpoints, or lose them, between the look and the
// one behind it.
task<result<locked_record>> caller_transaction::read_locked(std::vector<rows> got, held_key key) {
    auto made = co_await read_once(got.back(), key);
    for (int turn = 1; turn < looks_max && !made && made.error().code == errc::corrupt; ++turn) {
        const std::vector<call> again{{texts_.look.name, id_values(key.id)}};
        auto seen = co_await on_.pipeline(again);
        if (!seen) co_return std::move(seen).error();
        auto once_more = co_await read_once(seen->back(), key);
        made = std::move(once_more);
    }
    if (made) held_.push_back(std::move(key));
    co_return made;
}

task<result<locked_record>> caller_transaction::read_once(const rows& seen, held_key& key) {
    if (seen.count() == 0) {
        co_return refused(errc::corrupt, "the fence floor is missing in the table " +
                                             options_.table_prefix + "meta; restore it");
    }
    if (auto same = check_same_place(seen); !same) co_return std::move(same).error();
    key.table = seen.bytes(0, table_column);
    locked_record made{
        .stored = {},
        .at = {.now = read_timestamp(seen.bytes(0, now_column)),
               .fence_floor = static_cast<std::uint64_t>(seen.integer(0, floor_column))}};
    if (seen.is_null(0, record_column)) co_return made;
    auto read = read_record(seen.bytes(0, record_column));
    if (!read) co_return std::move(read).error();
    key.has_checkpoints = !read->checkpoints.empty();
    key.seen_at = read->updated_at;
    made.stored = *std::move(read);
    if (!key.has_checkpoints) co_return made;
    auto filled = co_await read_steps(key, made.stored->checkpoints);
    if (!filled) co_return std::move(filled).error();
    co_return made;
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
