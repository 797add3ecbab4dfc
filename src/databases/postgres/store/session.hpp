// One connection, set up, checked and prepared. It reconnects after a loss.
#pragma once

#include <memory>
#include <string>

#include "databases/postgres/client/connection.hpp"
#include "databases/postgres/client/target.hpp"
#include "databases/postgres/store/statements.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

namespace semel::postgres {

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

    // Closes the connection although it is not lost: it leads to a standby now.
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

// Gives a new connection the settings this driver relies on, and makes sure that the server is new
// enough and, unless the target is only looked at, takes writes.
[[nodiscard]] result<void> set_up(connection& on, const target& to);

} // namespace semel::postgres
