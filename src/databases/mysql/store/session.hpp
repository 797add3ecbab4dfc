// One connection, set up and checked. It reconnects after a loss.
#pragma once

#include <memory>
#include <string>

#include "databases/mysql/client/connection.hpp"
#include "databases/mysql/client/target.hpp"
#include "databases/mysql/store/statements.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

namespace semel::mysql {

// What all sessions of one store share; constant.
struct session_options {
    target to;
    std::string table_prefix;
    statement_texts texts;
};

// One thread at a time.
class session {
public:
    explicit session(const session_options& options) : options_(options) {}

    // Connects for the first time; every failure says what to do.
    [[nodiscard]] result<void> open();

    // The connection. After a loss the session connects again, with growing pauses between the
    // attempts. A caller waits for that only a moment, and otherwise gets errc::unavailable.
    [[nodiscard]] result<connection*> get();

    [[nodiscard]] bool lost() const { return on_ == nullptr || on_->lost(); }

    // Closes the connection although it is not lost: it leads to a replica now.
    void drop() { on_.reset(); }

private:
    [[nodiscard]] result<void> reconnect();
    [[nodiscard]] failure put_off(failure why);

    const session_options& options_;
    std::unique_ptr<connection> on_;
    std::unique_ptr<connection> coming_; // under way
    local_time coming_deadline_ = {};
    local_time next_try_ = {};
    duration pause_ = {};
};

// Connects, by the target's own deadline.
[[nodiscard]] result<std::unique_ptr<connection>> connect(const target& to);

// What a server understands. The server's name and version do not show that, because a proxy gives
// its own.
struct abilities {
    bool compound_statements = false;
    bool skips_locked_rows = false;
};

// The SQL for such a server. errc::unsupported where it is too old; the version is for the message.
[[nodiscard]] result<mysql_dialect> dialect_for(abilities has, std::string_view server_version);

// Asks the server.
[[nodiscard]] result<mysql_dialect> find_dialect(connection& on, local_time deadline);

// Gives a new connection the settings this driver relies on and, unless the target is only looked
// at, makes sure that the server takes writes and keeps them.
[[nodiscard]] result<void> set_up(connection& on, const target& to, mysql_dialect spoken);

} // namespace semel::mysql
