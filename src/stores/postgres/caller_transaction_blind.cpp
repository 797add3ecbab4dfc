// A transaction that is sent as a whole.
#include "stores/postgres/caller_transaction.hpp"
#include "stores/postgres/row.hpp"
#include "stores/postgres/transaction_failures.hpp"
#include "stores/postgres/transaction_values.hpp"

namespace semel::postgres {

result<void> caller_transaction::begin_blind(const record_id& id) {
    if (auto begun = begin(on_locked::answer); !begun) return begun;
    const held_key& key = held_.emplace_back(held_key{.id = id, .token = new_token()});
    const auto number = big_endian(lock_number(options_.table_prefix, id));
    const call mark[]{{texts_.mark_blind.name, {view(key.token), view(number)}}};
    begun_ = true;
    // Not a prepared statement, which the session may have forgotten: then what stands behind a
    // sync of the work's own would be in no transaction.
    if (auto begun = on_->queue_text(texts_.begin.text); !begun) return begun;
    return on_->queue(mark);
}

result<record_stamp> caller_transaction::commit_blind(const record_id& id, const record& made) {
    if (held_.empty() || held_.back().id != id) return broken("the record was not locked");
    const held_key key = std::exchange(held_, {}).back();
    owner_ = owner::nobody;
    value_row columns;
    add_record(columns, made);
    call add{texts_.add_blind.name, id_values(id)};
    add.values.push_back(view(key.token));
    columns.append_to(add.values);
    const call calls[]{std::move(add), {texts_.past_floor.name, {}}, {texts_.commit.name, {}}};
    auto done = on_->pipeline(calls, no_deadline);
    if (!done) {
        in_doubt_ = done.error().possible == effect::unknown;
        if (has_forgotten(done.error())) {
            prepared_ = false;
            return refused(errc::conflict, "the session has forgotten its statements");
        }
        return explain(std::move(done).error());
    }
    if (done->back().tag() != "COMMIT") return broken("a statement of the work has failed");
    const rows& stamp = (*done)[done->size() - std::size(calls)];
    return record_stamp{.fence = static_cast<std::uint64_t>(stamp.integer(0, 0)),
                        .expires_at = stamp.time(0, 1)};
}

} // namespace semel::postgres
