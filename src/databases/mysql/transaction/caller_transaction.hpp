// A transaction on the caller's connection, and semel's records in it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/home_process.hpp"
#include "databases/mysql/transaction/caller_connection.hpp"
#include "databases/mysql/transaction/own_statements.hpp"
#include "databases/mysql/transaction/transaction_texts.hpp"
#include "semel/base/result.hpp"
#include "semel/databases/mysql/transaction.hpp"
#include "sql/held_keys.hpp"
#include "transaction/transaction_port.hpp"

namespace semel::mysql {

// Used by one thread at a time, like the connection.
//
// The row of a key is its lock: a transaction inserts the row before its work runs, or locks the
// row that is there.
class caller_transaction {
public:
    caller_transaction(st_mysql* handle, mysql_transaction_options options)
        : options_(std::move(options)),
          handle_(handle),
          texts_(options_.table_prefix),
          on_(handle, options_.dialect),
          own_(on_, texts_, options_.lock_wait) {}
    caller_transaction(const caller_transaction&) = delete;
    caller_transaction& operator=(const caller_transaction&) = delete;
    ~caller_transaction() = default;

    // From now on the beginning of a transaction reconnects a lost connection, and then calls
    // `on_reconnect` with it (unless the function is empty).
    void keep_connected(std::function<void(st_mysql*)> on_reconnect);
    [[nodiscard]] bool lost() const { return on_.lost(); }

    result<void> begin(on_locked locked);
    result<void> join();
    result<locked_record> lock(const record_id& id);
    result<void> save(const record_id& id, const record& after, std::uint64_t seen_fence);
    void leave(const record_id& id);
    result<void> commit();
    [[nodiscard]] bool asks_to_repeat() const;
    void rollback();
    void abandon() noexcept;
    [[nodiscard]] st_mysql* handle() const { return handle_; }
    [[nodiscard]] std::string_view tables() const { return options_.table_prefix; }

private:
    // What the row of a new key is inserted with, and what its record is expected to have.
    struct terms {
        duration lease = {};
        duration retention = {};
        record_policy policy = {};
        friend bool operator==(const terms&, const terms&) = default;
    };

    // A key between its look-up and its write. Savepoint `inner` is there as long as the
    // transaction is; what lies behind `outer` can be undone.
    struct held_key {
        record_id id;
        std::string inner;
        std::string outer;
        std::string database = {};                // whose tables were looked at
        std::optional<std::int64_t> version = {}; // of the row, as it was seen or inserted
        std::optional<terms> claimed = {};        // the row was inserted with these
        time_point now = {};
        bool has_checkpoints = false;
        bool outermost = false; // the one whose COMMIT is ours
    };

    struct finished_key {
        held_key key;
        record after;
    };

    result<void> check_usable();
    result<void> reconnect();

    // What a look-up has read beside the record.
    struct reading {
        time_point now;
        std::int64_t floor;
        std::int64_t schema;
    };

    result<locked_record> enter(held_key key);
    [[nodiscard]] std::vector<statement> way_in(const held_key& key);
    [[nodiscard]] duration patience(const held_key& key) const;
    // `first`: with the way in.
    result<void> look(held_key& key, locked_record& to, bool first);
    result<void> lock_row(held_key& key, locked_record& to);
    result<void> read(std::vector<rows>& got, held_key& key, locked_record& to);
    result<void> take_facts(const reading& got, held_key& key, locked_record& to);
    [[nodiscard]] failure no_floor();
    result<void> read_checkpoints(record& to, const record_id& id);
    result<std::vector<rows>> run_waiting(std::vector<statement> all, const held_key& key);
    [[nodiscard]] failure waited_enough(const held_key& key, failure why) const;

    // False if the key has a row.
    result<bool> claim(held_key& key, locked_record& to, bool first);
    result<void> claim_plain(held_key& key, locked_record& to, bool first);
    result<void> claim_kept(held_key& key, locked_record& to);

    [[nodiscard]] std::vector<statement> write(const held_key& key, const record& after) const;
    [[nodiscard]] failure explain(failure why) const; // of what was run last
    void undo(const held_key& key);
    result<void> end(const std::optional<finished_key>& last);
    [[nodiscard]] static terms terms_of(const record& it);
    [[nodiscard]] static bool is_usual(const finished_key& last);
    result<void> finish(const finished_key& last);
    void return_to_database(rows& now);
    void remove_left_claim(const held_key& key);

    const home_process home_;
    const mysql_transaction_options options_;
    st_mysql* const handle_;
    const transaction_texts texts_;
    caller_connection on_;
    own_statements own_;
    bool keeps_connected_ = false;
    std::function<void(st_mysql*)> on_reconnect_;
    bool in_doubt_ = false;   // the last COMMIT was not answered
    bool autocommits_ = true; // outside of our own transactions
    bool open_ = false;       // our own transaction, or what it has changed of the session
    on_locked locked_ = on_locked::wait;
    bool expects_new_ = true; // the last key was
    terms expected_;          // of the last record
    sql::held_keys<held_key> held_;
    std::optional<held_key> own_claim_; // its row was inserted by the transaction that is open
    std::optional<finished_key> unsent_;
    // The default one when the last transaction of our own has looked; none: it has not.
    std::optional<std::string> database_;
};

} // namespace semel::mysql
