#include <array>

#include "databases/postgres/outbox/table.hpp"
#include "outbox/relay_number.hpp"

namespace semel::outbox::pg {

namespace {

arguments lock_arguments(const shard_lock& by) {
    arguments made;
    made.add(std::int64_t{by.shard}).add(by.owner).add(by.epoch);
    return made;
}

} // namespace

result<shards_seen> postgres_table::attend(const owner_id& owner, std::int32_t shards,
                                           duration lease) {
    const arguments self = arguments{}.add(relay_number(owner)).add(owner).add(lease.count());
    const arguments count = arguments{}.add(std::int64_t{shards});
    const arguments own = arguments{}.add(owner).add(lease.count());
    const arguments none;
    const std::array<postgres::call, 4> calls{
        self.of(texts_.attend_self), count.of(texts_.attend_shards), own.of(texts_.attend_own),
        none.of(texts_.attend_all)};
    const auto got = ask(calls);
    if (!got) return got.error();
    shards_seen made;
    const postgres::rows& renewed = (*got)[2];
    for (int row = 0; row < renewed.count(); ++row) {
        made.own.push_back(static_cast<std::int32_t>(renewed.integer(row, 0)));
    }
    const postgres::rows& all = (*got)[3];
    for (int row = 0; row < all.count(); ++row) {
        const auto shard = static_cast<std::int32_t>(all.integer(row, 0));
        const bool free = all.integer(row, 1) != 0;
        if (shard < 0) {
            made.relays += free ? 0 : 1;
        } else {
            ++made.shards;
            if (free) made.free.push_back(shard);
        }
    }
    return made;
}

result<std::optional<taken_shard>> postgres_table::take(std::int32_t shard, const owner_id& owner,
                                                        duration lease) {
    const auto got =
        ask(texts_.take, arguments{}.add(std::int64_t{shard}).add(owner).add(lease.count()));
    if (!got) return got.error();
    const postgres::rows& answer = got->front();
    if (answer.count() == 0) return std::optional<taken_shard>{};
    return std::optional<taken_shard>{
        {.epoch = answer.integer(0, 0), .abandoned = answer.integer(0, 1) != 0}};
}

result<void> postgres_table::give_back(const shard_lock& what) {
    auto got = ask(texts_.give_shard, lock_arguments(what));
    if (!got) return std::move(got).error();
    return {};
}

result<void> postgres_table::leave(const owner_id& owner) {
    auto got = ask(texts_.leave, arguments{}.add(relay_number(owner)).add(owner));
    if (!got) return std::move(got).error();
    return {};
}

result<std::vector<std::string>> postgres_table::tidy_shard(const shard_lock& by) {
    const arguments lock = lock_arguments(by);
    const arguments shard = arguments{}.add(std::int64_t{by.shard});
    const std::array<postgres::call, 4> calls{
        lock.of(texts_.tidy_retries), lock.of(texts_.tidy_claims), lock.of(texts_.tidy_parked),
        shard.of(texts_.dead_keys)};
    const auto got = ask(calls);
    if (!got) return got.error();
    std::vector<std::string> keys;
    for (int row = 0; row < got->back().count(); ++row) {
        keys.emplace_back(got->back().bytes(row, 0));
    }
    return keys;
}

result<shard_read> postgres_table::advance(const shard_lock& by, const settlement& last,
                                           const std::optional<read_request>& next) {
    std::vector<postgres::call> calls;
    arguments done = lock_arguments(by);
    arguments back = lock_arguments(by);
    arguments on;
    if (!last.done.empty()) calls.push_back(done.add(last.done).of(texts_.settle_ordered));
    if (!last.back.empty()) calls.push_back(back.add(last.back).of(texts_.give_back_ordered));
    if (next) {
        on.add(std::int64_t{by.shard}).add(next->after);
        on.add(static_cast<std::int64_t>(next->rows_max));
        calls.push_back(on.of(texts_.read));
    }
    shard_read made;
    if (calls.empty()) return made;
    const auto got = ask(calls);
    if (!got) return got.error();
    std::size_t at = 0;
    if (!last.done.empty()) made.done += static_cast<std::size_t>((*got)[at++].integer(0, 0));
    if (!last.back.empty()) made.done += static_cast<std::size_t>((*got)[at++].count());
    if (!next) return made;
    const postgres::rows& rows = (*got)[at];
    for (int row = 0; row < rows.count(); ++row) made.rows.push_back(read_message(rows, row, 0));
    return made;
}

// ---- operators ----------------------------------------------------------------------------------

namespace {

row_view read_view(const postgres::rows& from, int row) {
    return {.it = read_message(from, row, 0),
            .status = static_cast<row_status>(from.integer(row, 10)),
            .next_retry_time = from.time(row, 11),
            .lock_until = from.time(row, 12),
            .updated_at = from.time(row, 13),
            .last_error = std::string{from.bytes(row, 14)}};
}

} // namespace

result<std::vector<row_view>> postgres_table::list(const row_query& which) {
    const auto status = which.status ? static_cast<std::int64_t>(*which.status) : std::int64_t{-1};
    const auto got = ask(texts_.list, arguments{}
                                          .add(status)
                                          .add(std::string_view{which.topic})
                                          .add(which.after)
                                          .add(static_cast<std::int64_t>(which.rows_max)));
    if (!got) return got.error();
    std::vector<row_view> made;
    for (int row = 0; row < got->front().count(); ++row) {
        made.push_back(read_view(got->front(), row));
    }
    return made;
}

result<std::optional<row_view>> postgres_table::show(std::int64_t row) {
    const auto got = ask(texts_.show, arguments{}.add(row));
    if (!got) return got.error();
    if (got->front().count() == 0) return std::optional<row_view>{};
    return std::optional<row_view>{read_view(got->front(), 0)};
}

result<std::size_t> postgres_table::requeue(std::span<const std::int64_t> rows) {
    return count_of(texts_.requeue, arguments{}.add(rows).add(std::int64_t{rows.empty() ? 1 : 0}));
}

result<std::size_t> postgres_table::drop(std::span<const std::int64_t> rows) {
    return count_of(texts_.drop, arguments{}.add(rows));
}

result<backlog> postgres_table::measure() {
    const auto got =
        ask(texts_.measure, arguments{}.add(static_cast<std::int64_t>(backlog_count_max)));
    if (!got) return got.error();
    const postgres::rows& answer = got->front();
    return backlog{.waiting = static_cast<std::uint64_t>(answer.integer(0, 0)),
                   .dead = static_cast<std::uint64_t>(answer.integer(0, 1)),
                   .oldest = duration{answer.integer(0, 2)}};
}

} // namespace semel::outbox::pg
