// MYSQL* and MYSQL_RES* with owners, errors as values, and a deadline on everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/home_process.hpp"
#include "databases/mysql/client/errors.hpp"
#include "databases/mysql/client/target.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

struct st_mysql;
struct st_mysql_res;

namespace semel::mysql {

// The rows a statement gave. Walked once, row by row; columns count from 0.
class rows {
public:
    explicit rows(st_mysql_res* it) : it_(it) {}

    // Goes to the next row; false after the last.
    bool next();
    [[nodiscard]] std::size_t count() const;
    [[nodiscard]] bool is_null(int column) const { return row_[column] == nullptr; }
    [[nodiscard]] std::string_view bytes(int column) const; // as long as this lives
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] time_point time(int column) const {
        return time_point{duration{integer(column)}};
    }

private:
    struct free_result {
        void operator()(st_mysql_res* it) const;
    };
    std::unique_ptr<st_mysql_res, free_result> it_;
    char** row_ = nullptr;
    unsigned long* lengths_ = nullptr;
};

// The answer of a statement without rows.
struct tally {
    std::uint64_t found = 0;  // rows that it has inserted or found
    std::int64_t last_id = 0; // what it has given to LAST_INSERT_ID(…)
};

// Statements that travel together, and what an error in one of them leaves behind. The server stops
// at the first error.
struct script {
    enum class writes {
        nothing,
        // One statement that commits by itself, or a transaction within a compound statement. The
        // number of an error shows whether the error came before the commit.
        somewhere,
        // A COMMIT as a statement of its own, behind `before_commit` statements that give no rows.
        // An error in one of these has undone everything.
        at_commit,
    };

    std::string text;
    writes what = writes::nothing;
    std::size_t before_commit = 0;
    bool in_transaction = false; // an error leaves the transaction open
};

// One thread at a time. After a failure that lost() confirms, the connection is useless. In a
// forked child the connection sends nothing to the server, not even when it is destroyed.
class connection {
public:
    // Begins to connect; advance() goes on until it is ready.
    static result<std::unique_ptr<connection>> start(const target& to);

    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    ~connection();

    enum class progress { ready, pending };
    [[nodiscard]] result<progress> advance(local_time deadline);

    // Sends all statements, then waits for all answers, in one round trip. Returns the rows of
    // those statements that give any. A failure with effect::none has left nothing behind.
    [[nodiscard]] result<std::vector<rows>> run(const script& what, local_time deadline);

    // Statements that write nothing; the rows of the last one.
    [[nodiscard]] result<rows> query(std::string_view sql, local_time deadline);

    // By the last statement of the last run() that gave no rows.
    [[nodiscard]] const tally& last_tally() const { return last_tally_; }

    [[nodiscard]] bool lost() const { return lost_; }
    [[nodiscard]] std::string_view server_version() const; // "10.11.19-MariaDB-…"
    [[nodiscard]] unsigned last_error() const;             // the server's number, or 0
    [[nodiscard]] st_mysql* native() { return it_; }

    // The server refuses a longer text and closes the connection.
    [[nodiscard]] std::size_t text_bytes_max() const { return text_bytes_max_; }
    void limit_text(std::size_t bytes) { text_bytes_max_ = bytes; }

private:
    explicit connection(const target& to) : to_(to) {}

    void set_options();
    [[nodiscard]] int connect();
    void finish_connecting();
    void guard_socket();
    // Waits for the events that the library asks for. Returns the events that have come.
    [[nodiscard]] int wait(int asked, local_time deadline);
    template <class Start, class Continue>
    void await(local_time deadline, const Start& start, const Continue& go_on);

    [[nodiscard]] result<std::vector<rows>> collect(const script& what, local_time deadline);
    // Before the failure, `done` statements without rows had been executed.
    [[nodiscard]] failure failed(const script& what, std::size_t done);
    void roll_back();
    [[nodiscard]] bool went_away_while_idle() const;
    [[nodiscard]] failure give_up(failure why);

    const home_process home_;
    const target& to_;
    st_mysql* it_ = nullptr;
    st_mysql* connected_ = nullptr;
    int pending_ = 0; // what a connection under way waits for
    bool timed_out_ = false;
    bool lost_ = false;
    tally last_tally_;
    std::size_t text_bytes_max_ = std::size_t{1} << 20;
};

} // namespace semel::mysql
