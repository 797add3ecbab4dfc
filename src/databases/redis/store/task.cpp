#include "databases/redis/store/task.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "databases/redis/client/keys.hpp"
#include "databases/redis/store/record_codec.hpp"
#include "semel/base/result.hpp"

namespace semel::redis {

namespace {

using std::chrono::milliseconds;
using ttl_type = std::optional<milliseconds>;

// A record is kept a little longer than it is used: a repeated completion still finds its own
// record, and after a clock was set back a moment the fence is still there.
constexpr milliseconds linger = std::chrono::minutes{1};
// What is small and carries only a fence stays longer.
constexpr milliseconds fence_memory = std::chrono::hours{24};
// Redis does not know the time of a test: its entries live longer, but they do expire.
constexpr milliseconds test_life = std::chrono::hours{24};

constexpr std::int64_t audit_entries_max = 1'000; // per record, the newest
constexpr milliseconds audit_life = std::chrono::hours{24 * 366};

milliseconds rounded_up(duration span) {
    return std::max(std::chrono::ceil<milliseconds>(span), milliseconds{0});
}

// How long a claim is kept: longer than any client comes back for it, however often it is renewed.
// A held claim waits for an operator, and so does one whose attempts are used up.
ttl_type claim_life(const record_policy& policy, std::uint32_t attempts, duration lease_left,
                    duration processing_left) {
    const bool again =
        policy.on_lease_expiry == lease_expiry::retry && attempts < policy.attempts_max;
    if (!again) return std::nullopt;
    return rounded_up(std::max(lease_left, processing_left) + policy.grace) + linger;
}

void append_ttl(std::string& to, const ttl_type& ttl) {
    if (ttl) {
        append_part(to, std::int64_t{ttl->count()});
    } else {
        append_part(to, std::string_view{});
    }
}

void append_now(std::string& to, const std::optional<time_point>& now) {
    if (now) {
        append_part(to, std::int64_t{now->time_since_epoch().count()});
    } else {
        append_part(to, std::string_view{});
    }
}

std::string_view word_for(redis_wake wake) {
    return wake == redis_wake::publish ? "publish" : "none";
}

std::string_view state_byte(record_state state) {
    static constexpr char bytes[]{0, 1, 2, 3};
    return {bytes + static_cast<std::size_t>(state), 1};
}

std::optional<script> first_script(const command& what, expected begins) {
    if (std::holds_alternative<commands::begin>(what)) {
        if (begins == expected::records) return std::nullopt;
        return script::begin;
    }
    if (std::holds_alternative<commands::complete>(what)) return script::finish;
    if (std::holds_alternative<commands::fail>(what)) return script::finish;
    if (std::holds_alternative<commands::renew>(what)) return script::renew;
    return std::nullopt;
}

// Waiting callers have something to look at when an attempt has come to its end.
bool ends_attempt(const command& what) {
    return !std::holds_alternative<commands::begin>(what) &&
           !std::holds_alternative<commands::checkpoint>(what);
}

answers::started first_start(const commands::begin& what, time_point now) {
    return {.by = {.fence = static_cast<std::uint64_t>(now.time_since_epoch().count()),
                   .owner = what.owner},
            .kind = answers::start_kind::first,
            .attempt = 1,
            .lease_until = now + what.lease,
            .content = what.content,
            .checkpoints = {}};
}

time_point time_in(const value& one) {
    return time_point{duration{one.integer}};
}

failure not_understood() {
    return {.code = errc::not_a_store,
            .possible = effect::unknown,
            .detail = "redis: a script was answered in a way it never does; is this Redis?"};
}

} // namespace

ttl_type time_to_live(const record& it, time_point now) {
    if (it.state == record_state::processing) {
        return claim_life(it.policy, it.attempts, it.lease_until - now,
                          it.begun_at + it.policy.processing_max - now);
    }
    // Released: only its fence matters.
    if (it.expires_at == time_point{}) return fence_memory;
    return rounded_up(it.expires_at - now) + linger;
}

task::task(job& it, const task_setting& setting, expected begins)
    : setting_(&setting),
      job_(&it),
      key_(record_key(setting.prefix, hash_of(it.id), it.id)),
      next_(first_script(it.what, begins)) {}

ttl_type task::unless_testing(ttl_type ttl) const {
    return job_->now ? ttl_type{test_life} : ttl;
}

// ---- requests -----------------------------------------------------------------------------------

void task::ask(std::string& to) const {
    if (!next_) return ask_look(to);
    switch (*next_) {
    case script::begin: return ask_begin(to);
    case script::finish:
        if (const auto* one = std::get_if<commands::complete>(&job_->what)) {
            return ask_finish(to, *one);
        }
        return ask_finish(to, std::get<commands::fail>(job_->what));
    case script::renew: return ask_renew(to);
    case script::swap: return ask_swap(to);
    case script::front_put:
    case script::front_advance: break; // of a front
    }
    SEMEL_ASSERT(false);
}

// The script, its keys and the time; `arguments` more must follow.
void task::open(std::string& to, script which, std::size_t keys, std::size_t arguments) const {
    const script_text& text = text_of(which);
    append_request(to, 3 + keys + 1 + arguments);
    append_part(to, std::string_view{spelled_out_ ? "EVAL" : "EVALSHA"});
    append_part(to, spelled_out_ ? text.text : text.sha1);
    append_part(to, static_cast<std::int64_t>(keys));
    append_part(to, key_);
    if (keys > 1) append_part(to, audit_key(setting_->prefix, hash_of(job_->id), job_->id));
    append_now(to, job_->now);
}

void task::ask_look(std::string& to) const {
    append_request(to, 2);
    append_part(to, std::string_view{"GET"});
    append_part(to, key_);
}

void task::ask_begin(std::string& to) const {
    const auto& what = std::get<commands::begin>(job_->what);
    open(to, script::begin, 1, 5);
    static const std::string owned = encode_owned(record_state::processing, {});
    append_part(to, std::string_view{owned}.substr(0, 2));
    append_part(to, encode_owner(what.owner));
    append_part(to, std::int64_t{what.lease.count()});
    append_ttl(to,
               unless_testing(claim_life(what.policy, 1, what.lease, what.policy.processing_max)));
    append_part(to, encode_rest(what));
}

void task::ask_finish(std::string& to, const commands::complete& what) const {
    open(to, script::finish, 1, 8);
    append_part(to, encode_owned(record_state::processing, what.by));
    append_part(to, state_byte(record_state::succeeded));
    append_part(to, std::int64_t{what.retention.count()});
    append_part(to, std::string_view{});
    append_ttl(to, unless_testing(rounded_up(what.retention) + linger));
    append_part(to, std::string_view{"drop"});
    append_part(to, word_for(setting_->wake));
    append_part(to, encode_end({}, what.result));
}

void task::ask_finish(std::string& to, const commands::fail& what) const {
    const bool final = what.kind == commands::failure_kind::final;
    open(to, script::finish, 1, 8);
    append_part(to, encode_owned(record_state::processing, what.by));
    append_part(to,
                state_byte(final ? record_state::failed_final : record_state::failed_retryable));
    append_part(to, std::int64_t{what.retention.count()});
    if (final) {
        append_part(to, std::string_view{});
    } else {
        append_part(to, std::int64_t{what.retry_after.count()});
    }
    append_ttl(to, unless_testing(rounded_up(what.retention) + linger));
    append_part(to, std::string_view{final ? "drop" : "keep"});
    append_part(to, word_for(setting_->wake));
    append_part(to, encode_end(what.error, {}));
}

void task::ask_renew(std::string& to) const {
    const auto& what = std::get<commands::renew>(job_->what);
    open(to, script::renew, 1, 2);
    append_part(to, encode_owned(record_state::processing, what.by));
    append_part(to, std::int64_t{what.lease.count()});
}

void task::ask_swap(std::string& to) const {
    const bool wakes = ends_attempt(job_->what);
    open(to, script::swap, 2, 7);
    append_part(to, swap_->stamp);
    append_part(to, swap_->value);
    append_ttl(to, unless_testing(swap_->ttl));
    append_part(to, word_for(wakes ? setting_->wake : redis_wake::none));
    append_part(to, swap_->audit);
    append_part(to, audit_entries_max);
    append_part(to, std::int64_t{audit_life.count()});
}

// ---- replies ------------------------------------------------------------------------------------

connection_use task::hear(const value& got, const result<time_point>& now) {
    using type = value::type;
    if (got.is(type::error)) return hear_error(got.text);
    if (!next_) return hear_looked(got, now);
    const bool pair =
        got.is(type::array) && got.items.size() == 2 && got.items[0].is(type::integer);
    const bool renews = next_ == script::renew;
    if (got.is(type::integer) && !renews) {
        hear_done(time_in(got));
    } else if (pair && renews && got.items[1].is(type::integer)) {
        ++written_;
        reply_with(answers::renewed{.lease_until = time_in(got.items[1])}, time_in(got.items[0]));
    } else if (pair && (got.items[1].is(type::bulk) || got.items[1].is(type::nil))) {
        judge(time_in(got.items[0]), got.items[1]);
    } else {
        give_up(not_understood());
        return connection_use::replace;
    }
    return connection_use::keep;
}

connection_use task::hear_looked(const value& stored, const result<time_point>& now) {
    const auto fail = [&](failure why) {
        why.possible = effect::none; // nothing was written
        give_up(std::move(why));
    };
    if (!stored.is(value::type::bulk) && !stored.is(value::type::nil)) {
        fail(not_understood());
        return connection_use::replace;
    }
    if (!job_->now && !now) {
        fail(now.error());
    } else if (std::holds_alternative<commands::begin>(job_->what) && stored.is(value::type::nil)) {
        // Not a repeat after all.
        next_ = script::begin;
    } else {
        judge(job_->now ? *job_->now : *now, stored);
    }
    return connection_use::keep;
}

connection_use task::hear_error(std::string_view message) {
    if (lacks_script(message) && !spelled_out_) {
        spelled_out_ = true;
        return connection_use::keep;
    }
    verdict found = verdict_of(message);
    if (!writes()) found.why.possible = effect::none;
    give_up(std::move(found.why));
    return found.after;
}

// The script has written.
void task::hear_done(time_point now) {
    ++written_;
    if (next_ == script::swap) return reply_with(std::move(swap_->said), swap_->now);
    if (const auto* one = std::get_if<commands::begin>(&job_->what)) {
        met_ = expected::new_keys;
        return reply_with(first_start(*one, now), now);
    }
    const auto* completed = std::get_if<commands::complete>(&job_->what);
    const duration retention = completed != nullptr
                                   ? completed->retention
                                   : std::get<commands::fail>(job_->what).retention;
    reply_with(answers::stored{.expires_at = now + retention}, now);
}

// What is there has come back, and nothing has been written.
void task::judge(time_point now, const value& stored) {
    auto found =
        stored.is(value::type::bulk) ? decode(stored.text) : result<stored_value>{stored_value{}};
    if (!found) return give_up(std::move(found).error());
    const record* const before = found->it ? &*found->it : nullptr;
    if (std::holds_alternative<commands::begin>(job_->what)) met_ = expected::records;
    auto made = apply(before, job_->what, {.now = now, .fence_floor = found->fence_floor});
    if (made.what == change::none) return reply_with(std::move(made.said), now);
    swap_ = std::make_unique<swap_request>();
    if (made.what == change::put) {
        swap_->value = encode(*made.after, found->version + 1);
        swap_->ttl = time_to_live(*made.after, now);
    } else {
        swap_->value = encode_grave(before->holder.fence);
        swap_->ttl = fence_memory;
    }
    swap_->stamp = stored.text.substr(0, stamp_bytes);
    swap_->audit = made.audit ? encode(*made.audit) : std::string{};
    swap_->said = std::move(made.said);
    swap_->now = now;
    next_ = script::swap;
    spelled_out_ = false;
}

void task::reply_with(answer said, time_point now) {
    job_->answer = reply{.said = std::move(said), .now = now};
}

} // namespace semel::redis
