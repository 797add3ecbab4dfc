// A transaction on the caller's connection, and semel's records in it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/home_process.hpp"
#include "databases/mysql/transaction/caller_connection.hpp"
#include "databases/mysql/transaction/transaction_texts.hpp"
#include "semel/base/result.hpp"
#include "semel/databases/mysql/transaction.hpp"
#include "transaction/transaction_port.hpp"

namespace semel::mysql {

// Used by one thread at a time, like the connection.
class caller_transaction {
public:
    caller_transaction(st_mysql* handle, mysql_transaction_options options)
        : options_(std::move(options)),
          handle_(handle),
          texts_(options_.table_prefix),
          on_(handle, options_.dialect) {}

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
    enum class owner { nobody, us, caller };

    // A key between its look-up and its write. Savepoint `inner` is there as long as the
    // transaction is; what lies behind `outer` can be undone.
    struct held_key {
        record_id id;
        std::string inner;
        std::string outer;
        std::string database = {};                // whose tables were looked at
        std::optional<std::int64_t> version = {}; // of the record that was seen
        bool has_checkpoints = false;
        bool outermost = false; // the one whose COMMIT is ours
    };

    result<void> check_usable();
    result<void> reconnect();
    [[nodiscard]] std::vector<statement> way_in(const held_key& key);
    result<locked_record> read_locked(std::vector<rows>& got, held_key key);
    [[nodiscard]] failure no_floor();
    result<void> read_checkpoints(record& to, const record_id& id);
    [[nodiscard]] std::optional<held_key> take_held(const record_id& id);
    [[nodiscard]] std::vector<statement> write(const held_key& key, const record& after) const;
    void add_end(std::vector<statement>& to) const;
    void return_to_database(rows& now);
    [[nodiscard]] failure explain(failure why) const; // of the statement that was run last

    const home_process home_;
    const mysql_transaction_options options_;
    st_mysql* const handle_;
    const transaction_texts texts_;
    caller_connection on_;
    bool in_doubt_ = false;   // the last COMMIT was not answered
    bool autocommits_ = true; // outside of our own transactions
    owner owner_ = owner::nobody;
    bool begun_ = false; // BEGIN has been sent; it waits for the first lock
    on_locked locked_ = on_locked::wait;
    std::vector<held_key> held_;
    std::vector<record_id> locks_; // named locks of ours
    // The default one when the last transaction of our own has looked; none: it has not.
    std::optional<std::string> database_;
    std::vector<statement> unsent_;
};

} // namespace semel::mysql
