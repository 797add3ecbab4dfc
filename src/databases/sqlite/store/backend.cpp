#include "databases/sqlite/store/backend.hpp"

#include <algorithm>
#include <chrono>
#include <new>

#include "databases/sqlite/client/schema.hpp"

namespace semel::sqlite {

namespace {

bool reads_only(const job* one) {
    return std::holds_alternative<commands::lookup>(one->what);
}

void answer_all(std::span<job* const> batch, const failure& why) {
    for (job* one : batch) one->answer = why;
}

failure out_of_memory() {
    return {.code = errc::no_space, .possible = effect::none, .detail = "sqlite: out of memory"};
}

// A newer file must be left alone, so its version is read before anything is written.
result<void> make_ready(connection& on, const sqlite_store_options& options) {
    if (options.mode == open_mode::create) {
        if (const auto version = schema_version(on, options.table_prefix); !version) {
            return version.error();
        }
    } else if (auto there = check_schema(on, options.table_prefix); !there) {
        return there;
    }
    if (auto ready = on.make_ready(); !ready || options.mode != open_mode::create) return ready;
    return migrate(on, options.table_prefix);
}

} // namespace

time_point wall_clock() {
    return std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
}

result<std::unique_ptr<backend>> backend::open(const sqlite_store_options& options,
                                               write_gate& gate, std::size_t cache_bytes) {
    auto opened = connection::open({.path = options.path,
                                    .lock_wait = options.lock_wait,
                                    .cache_bytes = cache_bytes,
                                    .mode = options.mode});
    if (!opened) return std::move(opened).error();
    connection& on = **opened;
    if (auto ready = make_ready(on, options); !ready) return std::move(ready).error();
    auto prepared = records::prepare(on, options.table_prefix);
    if (!prepared) return std::move(prepared).error();

    std::unique_ptr<backend> made{new backend{options, gate}};
    made->on_ = *std::move(opened);
    made->records_ = *std::move(prepared);
    return made;
}

void backend::execute(std::span<job* const> batch) {
    try {
        execute_batch(batch);
    } catch (...) {
        // In the middle of anything: an answer may be that of a transaction which ends here.
        on_->rollback();
        for (job* one : batch) one->answer.reset();
        throw;
    }
}

void backend::execute_batch(std::span<job* const> batch) {
    const auto rest = repeats_ ? answer_repeats(batch) : batch;
    if (!rest.empty() && transact(rest) == verdict::culprit_unknown) transact_one_by_one(rest);
    learn_from(batch);
}

// One command failed and the transaction with it. Each gets a transaction of its own, so that only
// the culprit fails.
void backend::transact_one_by_one(std::span<job* const> batch) {
    for (job* const& one : batch) {
        one->answer.reset();
        static_cast<void>(transact({&one, 1}));
    }
}

std::span<job* const> backend::answer_repeats(std::span<job* const> batch) {
    unanswered_.clear();
    if (!on_->begin(access::read)) return batch;
    const time_point now = wall_clock();
    for (job* one : batch) {
        const time_point at = one->now.value_or(now);
        auto seen = records_->look(one->id, one->what, at);
        if (seen && *seen) {
            one->answer = reply{.said = **std::move(seen), .now = at};
        } else {
            unanswered_.push_back(one);
        }
    }
    if (!on_->commit()) on_->rollback();
    return unanswered_;
}

void backend::learn_from(std::span<job* const> batch) {
    std::size_t claims = 0;
    std::size_t repeats = 0;
    for (const job* one : batch) {
        if (!std::holds_alternative<commands::begin>(one->what)) continue;
        if (!one->answer || !*one->answer) continue;
        ++claims;
        if (!std::holds_alternative<answers::started>((*one->answer)->said)) ++repeats;
    }
    if (claims > 0) repeats_ = 2 * repeats >= claims;
}

backend::verdict backend::transact(std::span<job* const> batch) {
    const bool reading = std::all_of(batch.begin(), batch.end(), reads_only);
    std::optional<result<write_gate::pass>> turn;
    if (!reading) {
        turn.emplace(gate_.enter(lock_wait_));
        if (!*turn) {
            answer_all(batch, turn->error());
            return verdict::answered;
        }
    }
    if (auto begun = on_->begin(reading ? access::read : access::write); !begun) {
        answer_all(batch, begun.error());
        return verdict::answered;
    }
    records_->enter();
    wrote_.clear();
    try {
        return execute_each(batch);
    } catch (const std::bad_alloc&) {
        return give_up(batch, out_of_memory());
    }
}

backend::verdict backend::execute_each(std::span<job* const> batch) {
    wrote_.reserve(batch.size());
    const time_point now = wall_clock();
    for (job* one : batch) {
        const time_point at = one->now.value_or(now);
        auto done = records_->execute(one->id, one->what, at);
        if (on_->failed()) return give_up(batch, done.error());
        if (!done) {
            one->answer = std::move(done).error();
            continue;
        }
        if (done->what != change::none) wrote_.push_back(one);
        one->answer = reply{.said = std::move(done->said), .now = at};
    }
    commit();
    return verdict::answered;
}

backend::verdict backend::give_up(std::span<job* const> batch, const failure& why) {
    on_->rollback();
    if (batch.size() > 1) return verdict::culprit_unknown;
    answer_all(batch, why);
    return verdict::answered;
}

// What was only read stays answered: no command of a batch sees what another one wrote.
void backend::commit() {
    const auto done = on_->commit();
    if (done) return;
    on_->rollback();
    answer_all(wrote_, done.error());
}

result<std::size_t> backend::purge(std::size_t most, std::optional<time_point> now) {
    const auto turn = gate_.enter(lock_wait_);
    if (!turn) return turn.error();
    if (auto begun = on_->begin(access::write); !begun) return std::move(begun).error();
    records_->enter();
    auto removed = records_->purge(most, now.value_or(wall_clock()));
    if (removed) {
        if (auto done = on_->commit(); !done) removed = std::move(done).error();
    }
    if (!removed) on_->rollback();
    return removed;
}

result<std::vector<audit_entry>> backend::audit(const record_id& id) {
    return records_->audit(id);
}

result<rows_read> backend::read(const record_query& query, const row_request& which) {
    return records_->read(query, which, query.now.value_or(wall_clock()));
}

} // namespace semel::sqlite
