#include "semel/databases/sqlite/transaction.hpp"

#include <sqlite3.h>

#include <atomic>
#include <thread>
#include <utility>

#include "databases/sqlite/client/connection.hpp"
#include "databases/sqlite/client/schema.hpp"
#include "databases/sqlite/store/backend.hpp"
#include "databases/sqlite/store/record_rows.hpp"
#include "databases/sqlite/store/statements.hpp"
#include "semel/base/result.hpp"
#include "sql/held_keys.hpp"
#include "transaction/transaction_port.hpp"

namespace semel {

namespace {

using sqlite::query;

constexpr sql::refusals says{"sqlite"};

result<std::string> ask(sqlite::connection& on, std::string_view sql) {
    auto made = on.prepare(sql);
    if (!made) return std::move(made).error();
    query run{*made};
    const auto stepped = run.step();
    if (!stepped) return stepped.error();
    if (*stepped == query::step_result::done) return std::string{};
    return std::string{run.bytes(0)};
}

// Takes the connection's lock time-out away for a moment. A busy handler of the application's own
// cannot be put back, so that one stays in force.
class no_lock_timeout {
public:
    explicit no_lock_timeout(sqlite::connection& on) : db_(on.native()) {
        const auto set = ask(on, "PRAGMA busy_timeout");
        if (set && !set->empty()) before_ = std::stoi(*set);
        if (before_ > 0) sqlite3_busy_timeout(db_, 0);
    }
    no_lock_timeout(const no_lock_timeout&) = delete;
    no_lock_timeout& operator=(const no_lock_timeout&) = delete;
    ~no_lock_timeout() {
        if (before_ > 0) sqlite3_busy_timeout(db_, before_);
    }

private:
    sqlite3* const db_;
    int before_ = 0;
};

class transaction_on_file final : public transaction_port {
public:
    transaction_on_file(sqlite3* handle, sqlite_transaction_options options)
        : options_(std::move(options)), db_(handle), on_(sqlite::connection::borrow(handle)) {
        SEMEL_ASSERT(handle != nullptr);
    }

    done begin(on_locked locked) override { return ready(start(locked)); }
    done join() override { return ready(enter()); }
    done lock(const record_id& id, locked_record& to) override { return ready(look(id, to)); }
    done save(const record_id& id, const record& after, std::uint64_t seen_fence) override {
        return ready(put(id, after, seen_fence));
    }
    void leave(const record_id& id) override;
    done commit() override { return ready(end()); }
    done rollback() override;
    [[nodiscard]] const void* connection() const override { return db_; }
    [[nodiscard]] std::string_view tables() const override { return options_.table_prefix; }
    [[nodiscard]] void* for_work() override { return db_; }

private:
    // A key that this transaction has locked. The savepoints vanish with the transaction, so the
    // port notices if the work has ended the transaction and begun another one. Savepoint `inner`
    // is there as long as the transaction is; everything after `outer` can be undone.
    struct held_key {
        record_id id;
        std::string outer;
        std::string inner;
    };

    [[nodiscard]] bool open() const { return sqlite3_get_autocommit(db_) == 0; }
    result<void> start(on_locked locked);
    result<void> enter();
    result<void> prepare(); // what both have in common
    result<void> promote();
    result<void> look(const record_id& id, locked_record& to);
    result<void> put(const record_id& id, const record& after, std::uint64_t seen_fence);
    result<void> end();
    result<void> check_work_left(const held_key& key);
    result<void> check_settings();
    result<void> retry(const std::string& sql, duration patience);
    result<void> write(const held_key& key, const record& after, std::uint64_t seen_fence);

    const home_process home_;
    const sqlite_transaction_options options_;
    sqlite3* const db_;
    const std::unique_ptr<sqlite::connection> on_;
    std::unique_ptr<sqlite::record_rows> rows_;
    sql::held_keys<held_key> held_;
};

// ---- the way in ---------------------------------------------------------------------------------

result<void> transaction_on_file::prepare() {
    if (auto sound = check_settings(); !sound) return sound;
    if (rows_ != nullptr) return {};
    if (!sqlite::valid_prefix(options_.table_prefix)) {
        return says.no_prefix(options_.table_prefix);
    }
    const char* const file = sqlite3_db_filename(db_, "main");
    if (auto own = sqlite::check_not_inherited(file == nullptr ? "" : file); !own) return own;
    const auto version = sqlite::schema_version(*on_, options_.table_prefix);
    if (!version) return version.error();
    if (*version == 0) {
        return says.of(errc::schema_missing, "the tables are not in this file; open it once as a "
                                             "store, or run `semel migrate`");
    }
    auto rows = sqlite::record_rows::prepare(*on_, sqlite::statement_texts{options_.table_prefix});
    if (!rows) return std::move(rows).error();
    rows_ = *std::move(rows);
    return {};
}

result<void> transaction_on_file::check_settings() {
    if (auto in_place = on_->check_in_place(); !in_place) return in_place;
    const auto synchronous = ask(*on_, "PRAGMA main.synchronous");
    if (!synchronous) return synchronous.error();
    if (*synchronous < "2") {
        return says.of(errc::unsupported,
                       "synchronous is below FULL: a commit could be lost; set PRAGMA "
                       "synchronous=FULL");
    }
    const auto journal = ask(*on_, "PRAGMA main.journal_mode");
    if (!journal) return journal.error();
    if (*journal == "off" || *journal == "memory") {
        return says.of(errc::unsupported, "journal_mode is '" + *journal +
                                              "': a crash could leave half a transaction; use WAL");
    }
    const auto attached =
        ask(*on_, "SELECT name FROM pragma_database_list WHERE name NOT IN ('main', 'temp')");
    if (!attached) return attached.error();
    if (attached->empty()) return {};
    return says.of(errc::unsupported, "'" + *attached +
                                          "' is attached: a commit over several files is not "
                                          "atomic; use a connection of its own");
}

// With a deadline of our own: without a time-out on the connection SQLite gives up at once, and
// any commit of the store would be a failure here.
result<void> transaction_on_file::retry(const std::string& sql, duration patience) {
    const local_time deadline = local_clock::now() + patience;
    while (true) {
        auto done = on_->execute(sql);
        const bool busy = !done && done.error().code == errc::timed_out;
        if (!busy || local_clock::now() >= deadline) return done;
        std::this_thread::sleep_for(std::chrono::microseconds{500});
    }
}

result<void> transaction_on_file::start(on_locked locked) {
    if (home_.left()) return opened_before_fork("sqlite: the connection");
    if (open()) {
        return says.in_transaction();
    }
    if (auto prepared = prepare(); !prepared) return prepared;
    held_.begin();
    const no_lock_timeout quick{*on_};
    const bool waits = locked == on_locked::wait;
    auto begun = retry("BEGIN IMMEDIATE", waits ? options_.lock_wait : options_.lock_answer);
    if (!begun && !waits && begun.error().code == errc::timed_out) {
        return says.of(errc::conflict, "another transaction is open on the file");
    }
    return begun;
}

result<void> transaction_on_file::enter() {
    if (home_.left()) return opened_before_fork("sqlite: the connection");
    if (open()) return prepare();
    return says.in_no_transaction();
}

// A transaction that has only read becomes a writing one, without writing.
result<void> transaction_on_file::promote() {
    if (sqlite3_txn_state(db_, "main") == SQLITE_TXN_WRITE) return {};
    auto done = on_->execute(sqlite::with_prefix(
        "UPDATE semel_meta SET value = value WHERE name = ''", options_.table_prefix));
    if (done || done.error().code != errc::timed_out) return done;
    // Another transaction writes now, so what was read here is out of date.
    return says.of(errc::conflict, "another transaction is writing; roll back and start with BEGIN "
                                   "IMMEDIATE");
}

// ---- the record ---------------------------------------------------------------------------------

result<void> transaction_on_file::look(const record_id& id, locked_record& to) {
    static std::atomic<std::uint64_t> serial = 0;
    if (!open()) return says.broken("the transaction is over before its record was read");
    if (auto writing = promote(); !writing) return writing;
    const std::string name = "semel_" + std::to_string(++serial);
    held_key key{.id = id, .outer = name, .inner = name + "_in"};
    for (const auto& one : {key.outer, key.inner}) {
        if (auto set = on_->execute("SAVEPOINT " + one); !set) return set;
    }

    auto row = rows_->load(id);
    if (!row) return std::move(row).error();
    const auto floor = rows_->fence_floor();
    if (!floor) return floor.error();
    to = {.stored = {}, .at = {.now = sqlite::wall_clock(), .fence_floor = *floor}};
    if (*row) to.stored = std::move((*row)->it);
    held_.add(std::move(key));
    return {};
}

result<void> transaction_on_file::put(const record_id& id, const record& after,
                                      std::uint64_t seen_fence) {
    const auto key = held_.take(id);
    if (!key) return says.not_locked();
    auto left = check_work_left(*key);
    auto done = left ? write(*key, after, seen_fence) : std::move(left);
    // Even a caller who commits all the same commits no effect without its record.
    if (!done) static_cast<void>(on_->execute("ROLLBACK TO " + key->outer));
    static_cast<void>(on_->execute("RELEASE " + key->outer));
    return done;
}

result<void> transaction_on_file::check_work_left(const held_key& key) {
    const failure ended =
        says.broken("the work has ended or rolled back the transaction it ran in");
    if (!open()) return ended;
    const auto there = on_->execute("RELEASE " + key.inner);
    if (there) return {};
    if (there.error().code != errc::timed_out) return ended;
    return says.broken("a statement of the work is not finished; sqlite3_reset or finalize it");
}

// Its savepoint is gone already if the work has ended the transaction.
void transaction_on_file::leave(const record_id& id) {
    const auto key = held_.take(id);
    if (key && open()) static_cast<void>(on_->execute("RELEASE " + key->outer));
}

result<void> transaction_on_file::write(const held_key& key, const record& after,
                                        std::uint64_t seen_fence) {
    const auto now = rows_->load(key.id);
    if (!now) return now.error();
    const std::uint64_t fence = *now ? (*now)->it.holder.fence : 0;
    if (fence != seen_fence) return says.broken("the work has changed its own record");
    if (*now) return rows_->save(**now, after);
    const auto inserted = rows_->insert(key.id, after);
    if (!inserted) return inserted.error();
    return {};
}

// ---- the way out --------------------------------------------------------------------------------

result<void> transaction_on_file::end() {
    held_.end();
    if (!open()) return says.broken("the work has ended the transaction it ran in");
    const local_time deadline = local_clock::now() + options_.lock_wait;
    while (true) {
        const int code = sqlite3_exec(db_, "COMMIT", nullptr, nullptr, nullptr);
        if (code == SQLITE_OK) return {};
        // Without a write-ahead log readers can be in the way; the transaction stays open.
        if ((code & 0xff) != SQLITE_BUSY || local_clock::now() >= deadline) {
            return sqlite::failure_of({.code = sqlite3_extended_errcode(db_),
                                       .system = sqlite3_system_errno(db_),
                                       .message = sqlite3_errmsg(db_)},
                                      sqlite::during::commit);
        }
        std::this_thread::sleep_for(std::chrono::microseconds{500});
    }
}

transaction_port::done transaction_on_file::rollback() {
    held_.end();
    if (open()) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
    return ready();
}

} // namespace

sqlite_transaction::sqlite_transaction(sqlite3* connection, sqlite_transaction_options options)
    : transaction(std::make_unique<transaction_on_file>(connection, std::move(options))) {}

} // namespace semel
