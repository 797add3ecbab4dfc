#include "databases/postgres/store/session.hpp"

#include <algorithm>
#include <vector>

#include "databases/postgres/client/schema.hpp"

namespace semel::postgres {

namespace {

// pg_current_xact_id_if_assigned() came with 13.
constexpr int oldest_server = 130'000;
constexpr duration shortest_pause = std::chrono::milliseconds{50};
constexpr duration longest_pause = std::chrono::seconds{2};
// How long one batch waits for a connection that is being made.
constexpr duration patience = std::chrono::milliseconds{250};

failure refused(errc code, std::string detail) {
    return {.code = code, .possible = effect::none, .detail = "postgres: " + std::move(detail)};
}

std::string milliseconds(duration length) {
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(length).count());
}

// Plans: every statement looks records up by their key, however small or large the table was when
// the plan was made; so the planner is left no other choice, and a plan is made once.
// JIT would be called for by the prices that the switches above put on what is left.
// A role or database with synchronous_commit=off would lose what was acknowledged.
std::string settings(const target& to) {
    const std::string looks =
        to.mode == open_mode::read_only ? "; SET default_transaction_read_only = on" : "";
    return "SET statement_timeout = " + milliseconds(to.answer_timeout) +
           "; SET lock_timeout = " + milliseconds(to.lock_timeout) +
           "; SET idle_in_transaction_session_timeout = " + milliseconds(4 * to.answer_timeout) +
           "; SET default_transaction_isolation = 'read committed'" + looks +
           "; SET plan_cache_mode = force_generic_plan"
           "; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off"
           "; SET enable_bitmapscan = off; SET enable_material = off; SET jit = off"
           "; SELECT current_setting('transaction_read_only'), set_config('synchronous_commit', "
           "CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' "
           "ELSE current_setting('synchronous_commit') END, false)";
}

std::vector<preparation> all_of(const statement_texts& texts) {
    std::vector<preparation> made;
    for (const auto* one :
         {&texts.insert, &texts.insert_new, &texts.complete, &texts.complete_there, &texts.fail,
          &texts.renew, &texts.load, &texts.load_rest, &texts.save, &texts.erase}) {
        made.push_back({one->name, one->text});
    }
    for (const auto* one :
         {&texts.past_floor, &texts.raise_floor, &texts.sweep_expired, &texts.sweep_forsaken,
          &texts.audit, &texts.impatient, &texts.search_ids, &texts.search_failed,
          &texts.search_ref, &texts.search_stuck}) {
        made.push_back({one->name, one->text});
    }
    return made;
}

result<void> prepare(connection& on, const session_options& options) {
    const local_time deadline = local_clock::now() + options.to.answer_timeout;
    if (auto ready = set_up(on, options.to); !ready) return ready;
    if (auto there = check_schema(on, options.table_prefix, deadline); !there) return there;
    return on.prepare(all_of(options.texts), deadline);
}

} // namespace

result<void> set_up(connection& on, const target& to) {
    if (on.server_version() < oldest_server) {
        return refused(errc::unsupported, "the server's version is " +
                                              std::to_string(on.server_version() / 10'000) +
                                              "; semel needs PostgreSQL 13 or newer");
    }
    const auto got = on.query(settings(to), local_clock::now() + to.answer_timeout);
    if (!got) return got.error();
    if (got->bytes(0, 0) == "off" || to.mode == open_mode::read_only) return {};
    return failure_of({.state = "25006", .message = "the connection is read-only"},
                      ending::rolled_back);
}

result<void> session::open() {
    auto started = connection::start(options_.to);
    if (!started) return std::move(started).error();
    const auto got = (*started)->advance(local_clock::now() + options_.to.connect_timeout);
    if (!got) return got.error();
    if (*got == connection::progress::pending) {
        return refused(errc::unavailable, "no connection within " +
                                              milliseconds(options_.to.connect_timeout) +
                                              " ms; check host, port and firewalls");
    }
    if (auto ready = prepare(**started, options_); !ready) return ready;
    on_ = *std::move(started);
    return {};
}

result<connection*> session::get() {
    if (on_ != nullptr && on_->lost()) on_.reset();
    if (on_ == nullptr) {
        if (auto made = reconnect(); !made) return std::move(made).error();
    }
    return on_.get();
}

result<void> session::reconnect() {
    const local_time now = local_clock::now();
    if (coming_ == nullptr) {
        if (now < next_try_) return refused(errc::unavailable, "the connection is lost");
        auto started = connection::start(options_.to);
        if (!started) return put_off(std::move(started).error());
        coming_ = *std::move(started);
        coming_deadline_ = now + options_.to.connect_timeout;
    }
    const auto got = coming_->advance(std::min(now + patience, coming_deadline_));
    if (!got) return put_off(got.error());
    if (*got == connection::progress::pending) {
        failure why = refused(errc::unavailable, "the connection is lost, a new one is under way");
        return local_clock::now() < coming_deadline_ ? std::move(why) : put_off(std::move(why));
    }
    if (auto ready = prepare(*coming_, options_); !ready) return put_off(std::move(ready).error());
    on_ = std::move(coming_);
    pause_ = {};
    return {};
}

// What is wrong at start is merely unavailable later on: it may be put right while we run.
failure session::put_off(failure why) {
    coming_.reset();
    pause_ = std::clamp(2 * pause_, shortest_pause, longest_pause);
    next_try_ = local_clock::now() + pause_;
    why.code = errc::unavailable;
    why.possible = effect::none;
    return why;
}

} // namespace semel::postgres
