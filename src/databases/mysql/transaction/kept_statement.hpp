// A compound statement that the server keeps prepared in the caller's session.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/home_process.hpp"
#include "databases/mysql/client/errors.hpp"
#include "databases/mysql/transaction/statement.hpp"

struct st_mysql;
struct st_mysql_stmt;

namespace semel::mysql {

// NULL, a number, or bytes.
using kept_value = std::variant<std::monostate, std::int64_t, std::string_view>;

// Tells the server. A forked child must not, and where other code reads a result the rest of that
// result would be lost: then the statement stays until the session ends.
struct close_statement {
    home_process home = {};
    void operator()(st_mysql_stmt* it) const;
};

// One thread at a time, as the connection.
class kept_statement {
public:
    // The last row of the statement, if it gave one.
    struct numbers {
        bool found = false;
        std::array<std::int64_t, 3> all = {};
    };

    // `text` says `all`, with `?` for each value.
    kept_statement(st_mysql* on, std::vector<statement> all, const std::string& text);

    // True if the server has the statement. False after an error, and after a reconnect.
    [[nodiscard]] bool ready() const;
    [[nodiscard]] const std::vector<statement>& all() const { return all_; }

    // False on an error.
    [[nodiscard]] native_error error() const;
    [[nodiscard]] bool execute(std::span<const kept_value> values, numbers& to);

private:
    [[nodiscard]] bool read(numbers& to);

    std::vector<statement> all_;
    std::unique_ptr<st_mysql_stmt, close_statement> it_;
};

} // namespace semel::mysql
