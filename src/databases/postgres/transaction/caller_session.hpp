// The application's connection, with semel's statements prepared in its session.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "databases/postgres/client/dialogue.hpp"
#include "databases/postgres/transaction/transaction_texts.hpp"
#include "semel/base/result.hpp"
#include "semel/databases/postgres/transaction.hpp"

namespace semel::postgres {

// Used by one caller at a time, like the connection.
class caller_session {
public:
    // `waits`: on whose loop; none: in place.
    caller_session(pg_conn* handle, socket_waiter* waits, const postgres_transaction_options& how)
        : handle_(handle), options_(how), texts_(how.table_prefix), on_(handle, waits) {}
    caller_session(const caller_session&) = delete;
    caller_session& operator=(const caller_session&) = delete;

    // From now on the beginning of a transaction reconnects a lost connection, and then calls
    // `on_reconnect` with it (unless the function is empty).
    void keep_connected(std::function<void(pg_conn*)> on_reconnect);

    // Whether a transaction can begin without a wait.
    [[nodiscard]] bool ready() const;
    // Reconnects and prepares what is missing, outside of a transaction, or in the application's.
    [[nodiscard]] task<result<void>> get_ready();
    [[nodiscard]] task<result<void>> get_ready_inside();

    [[nodiscard]] result<void> check_outside() const;
    [[nodiscard]] result<void> check_inside() const;
    // Statements that the work has queued in a pipeline go with the record. Any other query that it
    // has left under way would stand in the record's way.
    [[nodiscard]] result<void> check_work_left() const;
    // The table that a look-up has found, by its number. A new connection has the search path it
    // began with, and may have come to another server.
    [[nodiscard]] result<void> check_place(std::string_view table);

    // The owner of a session may forget its statements or move to other tables.
    [[nodiscard]] bool must_prepare_again(const native_failure& why);
    [[nodiscard]] task<result<void>> prepare();
    // The answer to COMMIT did not come.
    void doubt() { now_ = state::in_doubt; }

    // BEGIN, with READ COMMITTED if it is not the session's default.
    [[nodiscard]] const plain_statement& begin() const {
        return names_level_ ? texts_.begin_committed : texts_.begin;
    }
    // False: BEGIN names the level already.
    [[nodiscard]] bool name_level() { return !std::exchange(names_level_, true); }

    [[nodiscard]] pg_conn* handle() const { return handle_; }
    [[nodiscard]] const postgres_transaction_options& options() const { return options_; }
    [[nodiscard]] const transaction_texts& texts() const { return texts_; }
    [[nodiscard]] dialogue& on() { return on_; }
    [[nodiscard]] bool lost() const { return on_.lost(); }
    [[nodiscard]] std::string_view looked_in() const { return looked_in_; }

private:
    enum class state : std::uint8_t {
        unprepared,
        prepared,
        outdated,    // the session's statements are for tables that it does not see
        in_doubt,    // the last COMMIT was not answered
        reconnected, // and the application has not been told
    };
    enum class reconnects : std::uint8_t { after_doubt, always };

    [[nodiscard]] bool usable() const;
    [[nodiscard]] result<void> check_idle() const;
    void forget_lost_connection();
    [[nodiscard]] task<result<void>> reconnect();
    void tell();
    [[nodiscard]] task<result<void>> check_tables();

    pg_conn* const handle_;
    const postgres_transaction_options options_;
    const transaction_texts texts_;
    dialogue on_;
    reconnects reconnects_ = reconnects::after_doubt;
    std::function<void(pg_conn*)> on_reconnect_;
    state now_ = state::unprepared;
    bool names_level_ = false;
    std::string looked_in_;
    std::string must_look_in_; // after a reconnect, to learn what became of a COMMIT
};

} // namespace semel::postgres
