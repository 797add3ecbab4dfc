// A transaction that is sent as a whole.
#include <libpq-fe.h>

#include "databases/postgres/store/row.hpp"
#include "databases/postgres/transaction/caller_transaction.hpp"
#include "databases/postgres/transaction/transaction_failures.hpp"
#include "databases/postgres/transaction/transaction_values.hpp"

namespace semel::postgres {

task<result<void>> caller_transaction::begin_blind(const record_id& id) {
    auto begun = co_await begin(on_locked::answer);
    if (!begun) co_return begun;
    const held_key& key = held_.emplace_back(held_key{.id = id, .token = new_token()});
    const auto number = big_endian(lock_number(options_.table_prefix, id));
    const call mark[]{{texts_.mark_blind.name, {view(key.token), view(number)}}};
    begun_ = true;
    // Not a prepared statement, which the session may have forgotten: then what stands behind a
    // sync of the work's own would be in no transaction.
    if (auto queued = on_.queue_text(texts_.begin.text); !queued) co_return queued;
    co_return on_.queue(mark);
}

result<void> caller_transaction::expect_blind() {
    if (PQenterPipelineMode(handle_) == 1) return {};
    return refused(errc::unavailable, PQerrorMessage(handle_));
}

task<result<record_stamp>> caller_transaction::commit_blind(const record_id& id,
                                                            const record& made) {
    if (held_.empty() || held_.back().id != id) co_return broken("the record was not locked");
    const held_key key = std::exchange(held_, {}).back();
    owner_ = owner::nobody;
    value_row columns;
    add_record(columns, made);
    call add{texts_.add_blind.name, id_values(id)};
    add.values.push_back(view(key.token));
    columns.append_to(add.values);
    const call calls[]{std::move(add), {texts_.past_floor.name, {}}, {texts_.commit.name, {}}};
    auto done = co_await on_.pipeline(calls);
    if (!done) {
        in_doubt_ = done.error().possible == effect::unknown;
        if (has_forgotten(on_.last_failure())) {
            prepared_ = false;
            co_return refused(errc::conflict, "the session has forgotten its statements");
        }
        co_return explain(std::move(done).error());
    }
    if (done->back().tag() != "COMMIT") co_return broken("a statement of the work has failed");
    const rows& stamp = (*done)[done->size() - std::size(calls)];
    co_return record_stamp{.fence = static_cast<std::uint64_t>(stamp.integer(0, 0)),
                           .expires_at = stamp.time(0, 1)};
}

} // namespace semel::postgres
