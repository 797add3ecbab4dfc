#include "databases/mysql/store/rounds.hpp"

#include <algorithm>

#include "databases/mysql/store/row.hpp"
#include "semel/base/result.hpp"

namespace semel::mysql {

namespace {

// The server's time is one for a round: taken by a statement of its own, or on the way by the only
// one that writes, in which it does not change either.
constexpr std::string_view server_now = "@n";
const std::string taken_now = "(@n:=" + std::string{clock_expression} + ")";
// How many may be before us at the fence floor.
constexpr int floor_wait = 10;

bool is_begin(const pending& one) {
    return std::holds_alternative<commands::begin>(one.of->what);
}

// One command that is new to the store, with the server's time: nearly always one statement is all.
bool is_usual(const pending& one) {
    return one.next == need::first_try && !one.of->now &&
           (is_begin(one) || std::holds_alternative<commands::complete>(one.of->what));
}

void add_terms(row_buffer& to, const commands::begin& from) {
    to.add(static_cast<std::int64_t>(from.policy.on_lease_expiry));
    to.add(std::int64_t{from.policy.attempts_max});
    to.add(from.policy.grace).add(from.policy.processing_max).add(from.content);
    if (from.attributes.empty()) {
        to.add_sql("NULL");
    } else {
        to.add(std::string_view{from.attributes});
    }
}

} // namespace

// The time of a row: the server's, or that of a test.
row_buffer& rounds::add_now(row_buffer& to, const pending& one) const {
    return one.of->now ? to.add(*one.of->now) : to.add_sql(now_text());
}

row_buffer& rounds::add_claim(row_buffer& to, const pending& one, const claim& by) const {
    return add_now(to, one).add(by.fence).add(by.owner);
}

void rounds::add_time(row_buffer& to, const pending& one, duration later) const {
    if (one.of->now) {
        to.add(*one.of->now + later);
    } else {
        to.add_sql(std::string{now_text()} + "+" + number_text(later.count()));
    }
}

// fence = max(now in µs, floor + 1)
void rounds::add_fence(row_buffer& to, const pending& one) const {
    const auto least = static_cast<std::int64_t>(floor_ + 1);
    if (one.of->now) {
        to.add(std::max(one.of->now->time_since_epoch().count(), least));
    } else {
        to.add_sql("GREATEST(" + std::string{now_text()} + "," + number_text(least) + ")");
    }
}

row_buffer& rounds::batch::add(pending& one) {
    who.push_back(&one);
    rows.add_row();
    add_id(rows, one.of->id);
    return rows;
}

void rounds::batch::clear() {
    rows.clear();
    who.clear();
}

rounds::rounds(const statement_texts& texts, store_counters& counters)
    : texts_(texts), counters_(counters) {}

result<void> rounds::go(connection& on, std::span<pending* const> group, duration lock_wait,
                        local_time deadline) {
    clear();
    choose_way(group, lock_wait);
    for (pending* one : group) send(*one);
    plan(lock_wait);
    counters_.round_trips.add();
    auto got = on.run(make_script(lock_wait), deadline);
    if (!got) return std::move(got).error();
    take(*got, on.last_tally());
    if (writes_ > 0) {
        counters_.commits.add();
        counters_.record_writes.add(writes_);
    }
    return {};
}

// Most batches have one command or a few, and their cost is in the statements, not in the rows. The
// server also parses a long INSERT that it does not execute.
void rounds::choose_way(std::span<pending* const> group, duration lock_wait) {
    way_ = way::any;
    if (!texts_.has_compound() || lock_wait > duration{}) return;
    const bool enough = in_a_row_ >= enough_in_a_row;
    const auto is_usual_begin = [](const pending* one) { return is_usual(*one) && is_begin(*one); };
    const pending& first = *group.front();
    if (enough && !mostly_new_ && std::all_of(group.begin(), group.end(), is_usual_begin)) {
        way_ = way::only_look;
    } else if (group.size() > 1 || !is_usual(first)) {
        way_ = way::any;
    } else if (!is_begin(first)) {
        way_ = way::one_complete;
    } else if (mostly_new_) {
        way_ = enough ? way::one_new : way::one_begin;
    }
}

// ---- sending ------------------------------------------------------------------------------------

void rounds::clear() {
    for (auto* one : {&insert_, &complete_, &fail_, &renew_, &load_}) one->clear();
    save_.clear();
    text_.clear();
    counted_.clear();
    silent_ = 0;
    writers_ = 0;
    // A row that carries one of these numbers was inserted by this round.
    first_version_ = new_row_version();
    highest_erased_ = 0;
    writes_ = 0;
    sent_floor_ = floor_;
    floor_text_ = "NULL";
}

std::string_view rounds::now_text() const {
    return way_ == way::one_begin ? std::string_view{taken_now} : server_now;
}

void rounds::send(pending& one) {
    one.is_new = false;
    one.renewed = false;
    if (one.next == need::nothing) return;
    if (one.next == need::save) return send_save(one);
    const command& what = one.of->what;
    if (one.next == need::look || way_ == way::only_look) return send_look(one);
    if (const auto* begun = std::get_if<commands::begin>(&what)) {
        return way_ == way::one_new ? send_alone(one, *begun) : send_begin(one, *begun);
    }
    if (const auto* done = std::get_if<commands::complete>(&what)) return send_complete(one, *done);
    if (const auto* failed = std::get_if<commands::fail>(&what)) return send_fail(one, *failed);
    if (const auto* kept = std::get_if<commands::renew>(&what)) return send_renew(one, *kept);
    send_look(one);
}

// Claims the key if it is new. The look that rides along answers it if it is not.
void rounds::send_begin(pending& one, const commands::begin& what) {
    row_buffer& row = insert_.add(one);
    row.add(first_version_ + static_cast<std::int64_t>(insert_.who.size()) - 1);
    add_fence(row, one);
    row.add(what.owner);
    add_time(row, one, what.lease);
    add_time(row, one, what.lease);
    for (int i = 0; i < 3; ++i) add_now(row, one);
    add_terms(row, what);
    send_look(one);
}

// The time is added by the server.
void rounds::send_alone(pending& one, const commands::begin& what) {
    row_buffer& row = insert_.add(one);
    row.add(first_version_).add(static_cast<std::int64_t>(floor_ + 1)).add(what.owner);
    row.add(what.lease).add(what.lease);
    add_terms(row, what);
}

void rounds::send_complete(pending& one, const commands::complete& what) {
    add_claim(complete_.add(one), one, what.by)
        .add(what.retention)
        .add(static_cast<std::int64_t>(what.result.kind))
        .add(what.result.checksum)
        .add(std::string_view{what.result.type})
        .add(std::string_view{what.result.ref})
        .add(std::string_view{what.result.body});
}

void rounds::send_fail(pending& one, const commands::fail& what) {
    const auto state = what.kind == commands::failure_kind::final ? record_state::failed_final
                                                                  : record_state::failed_retryable;
    add_claim(fail_.add(one), one, what.by)
        .add(static_cast<std::int64_t>(state))
        .add(what.retention)
        .add(what.retry_after)
        .add(std::string_view{what.error});
}

// How long it is renewed is read back.
void rounds::send_renew(pending& one, const commands::renew& what) {
    add_claim(renew_.add(one), one, what.by).add(what.lease);
    send_look(one);
}

// Commands about checkpoints read them at once, other commands only if the record has some.
void rounds::send_look(pending& one) {
    if (std::holds_alternative<commands::checkpoint>(one.of->what)) one.wants_checkpoints = true;
    load_.add(one);
}

void rounds::send_save(pending& one) {
    save_.push_back(&one);
    if (one.judged->made.what == change::erase) {
        highest_erased_ = std::max(highest_erased_, one.judged->before.holder.fence);
    }
}

// ---- the statements of a round ------------------------------------------------------------------

void rounds::add_rows(std::string_view statement) {
    if (!text_.empty()) text_ += ';';
    text_ += statement;
}

void rounds::add_silent(std::string_view statement) {
    add_rows(statement);
    ++silent_;
}

void rounds::add_writer(std::string_view statement) {
    add_silent(statement);
    ++writers_;
}

std::string rounds::count_rows(const batch* of, pending* saved) {
    std::string variable = "ROW_COUNT()"; // right behind its statement
    if (way_ == way::any) {
        variable = "@c" + std::to_string(counted_.size());
        add_silent("SET " + variable + "=ROW_COUNT()");
    }
    counted_.push_back({.variable = variable, .of = of, .saved = saved});
    return variable;
}

void rounds::plan(duration lock_wait) {
    if (way_ == way::only_look) return add_rows(load_text());
    if (way_ == way::one_complete) return add_writer(texts_.complete_alone(complete_.rows));
    if (way_ == way::one_new) return add_writer(texts_.begin_alone(insert_.rows));
    if (way_ == way::any) add_silent(texts_.clock());
    // Before any record, so that transactions that remove something wait for each other in one
    // place only.
    if (highest_erased_ > 0) add_writer(texts_.raise_floor(highest_erased_));
    plan_update(complete_update(), complete_);
    plan_update(fail_update(), fail_);
    plan_update(renew_update(), renew_);
    for (pending* one : save_) plan_save(*one);
    plan_look(lock_wait);
    plan_times();
}

void rounds::plan_update(const batch_update& what, const batch& of) {
    if (of.who.empty()) return;
    add_writer(texts_.update(what, of.rows));
    count_rows(&of, nullptr);
}

void rounds::plan_save(pending& one) {
    row_buffer id;
    add_id(id.add_row(), one.of->id);
    const judgement& it = *one.judged;
    const bool erases = it.made.what == change::erase;
    add_writer(erases ? texts_.erase(id, it.version) : texts_.save(id, it.version, *it.made.after));
    const std::string saved = count_rows(nullptr, &one);
    if (!erases) plan_put(id, it, saved);
    if (erases && !it.before.checkpoints.empty()) {
        add_writer(texts_.forget_checkpoints(id, saved));
    }
    if (it.made.audit) add_writer(texts_.add_audit(id, *it.made.audit, saved));
}

void rounds::plan_put(const row_buffer& id, const judgement& it, const std::string& saved) {
    const auto& now = it.made.after->checkpoints;
    const auto& old = it.before.checkpoints;
    // apply() either adds checkpoints or drops them all.
    const bool forgets = now.size() < old.size();
    SEMEL_ASSERT(!forgets || now.empty());
    if (forgets) add_writer(texts_.forget_checkpoints(id, saved));
    for (std::size_t i = old.size(); i < now.size(); ++i) {
        add_writer(texts_.add_checkpoint(id, i, now[i], saved));
    }
}

std::string rounds::load_text() const {
    if (way_ == way::only_look && load_.who.size() == 1) return texts_.look_alone(load_.rows);
    if (way_ == way::only_look) return texts_.load(load_.rows, statement_texts::with::time);
    const bool steps = std::any_of(load_.who.begin(), load_.who.end(),
                                   [](const pending* one) { return one->wants_checkpoints; });
    return texts_.load(load_.rows,
                       steps ? statement_texts::with::checkpoints : statement_texts::with::columns);
}

// Inserting first is cheaper for new keys. Looking first is cheaper for repeats, which then lock
// nothing. Both orders are correct for both. A command that has found a lock looks first.
void rounds::plan_look(duration lock_wait) {
    if (load_.who.empty()) return;
    if (insert_.who.empty()) return add_rows(load_text());
    const bool insert_first = mostly_new_ && lock_wait == duration{};
    if (insert_first || !texts_.has_compound()) return plan_insert_then_look();
    add_rows(load_text());
    add_rows("IF FOUND_ROWS()<" + std::to_string(load_.who.size()) + " THEN " +
             texts_.insert_returning(insert_.rows) + ";SELECT " + texts_.floor() +
             " INTO @g;END IF");
    floor_text_ = "@g";
    ++writers_;
}

// The look shows by their versions which rows are new. If all are new, no look is needed.
void rounds::plan_insert_then_look() {
    add_writer(texts_.insert(insert_.rows));
    floor_text_ = texts_.floor();
    if (texts_.has_compound() && load_.who.size() == insert_.who.size()) {
        add_rows("IF ROW_COUNT()<" + std::to_string(insert_.who.size()) + " THEN " + load_text() +
                 ";END IF");
    } else {
        add_rows(load_text());
    }
}

void rounds::plan_times() {
    std::string times = "SELECT @n," + floor_text_;
    for (const auto& one : counted_) times += "," + one.variable;
    add_rows(times);
}

// One statement that writes commits by itself; several are a transaction. What waits for locks is
// timed, and a COMMIT must not be: an error could come when it is done.
script rounds::make_script(duration lock_wait) const {
    const bool plain = way_ != way::any && way_ != way::one_begin;
    if (!texts_.has_compound() || plain) return make_plain_script();
    if (writers_ == 0) return {.text = texts_.compound(text_)};
    if (lock_wait > duration{}) {
        // The floor is one row for all, held until a commit is flushed.
        const duration most = highest_erased_ > 0 ? floor_wait * lock_wait : lock_wait;
        return {.text = "BEGIN;" + texts_.timed(most, texts_.compound(text_)) + ";COMMIT",
                .what = script::writes::at_commit,
                .before_commit = 2,
                .in_transaction = true};
    }
    const bool one = writers_ == 1;
    return {.text = texts_.compound(one ? text_ : "START TRANSACTION;" + text_ + ";COMMIT"),
            .what = script::writes::somewhere,
            .in_transaction = !one};
}

script rounds::make_plain_script() const {
    if (writers_ == 0) return {.text = text_};
    if (writers_ == 1) return {.text = text_, .what = script::writes::somewhere};
    return {.text = "BEGIN;" + text_ + ";COMMIT",
            .what = script::writes::at_commit,
            .before_commit = 1 + silent_,
            .in_transaction = true};
}

} // namespace semel::mysql
