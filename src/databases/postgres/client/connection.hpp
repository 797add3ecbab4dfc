// PGconn* and PGresult* with owners, errors as values, and a deadline on everything.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/home_process.hpp"
#include "databases/postgres/client/binary.hpp"
#include "databases/postgres/client/errors.hpp"
#include "databases/postgres/client/pipeline_answers.hpp"
#include "databases/postgres/client/target.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/transaction.hpp"

struct pg_conn;
struct pg_result;

namespace semel::postgres {

// The rows a statement gave. Columns count from 0.
class rows {
public:
    explicit rows(pg_result* it) : it_(it) {}

    [[nodiscard]] int count() const;
    [[nodiscard]] std::string_view tag() const; // "COMMIT", "ROLLBACK", "INSERT 0 1" …
    [[nodiscard]] bool is_null(int row, int column) const;
    [[nodiscard]] std::string_view bytes(int row, int column) const; // as long as this lives
    [[nodiscard]] const pg_result* native() const { return it_.get(); }
    [[nodiscard]] std::int64_t integer(int row, int column) const {
        return read_integer(bytes(row, column));
    }
    [[nodiscard]] time_point time(int row, int column) const {
        return time_point{duration{integer(row, column)}};
    }

private:
    struct clear {
        void operator()(pg_result* it) const;
    };
    std::unique_ptr<pg_result, clear> it_;
};

// A statement to be prepared, and one of its executions. Values are in binary form; one without
// data is NULL. They must live until the pipeline has run.
struct preparation {
    const std::string& name;
    const std::string& text;
};
struct call {
    const std::string& name;
    std::vector<std::string_view> values;
};

// One thread at a time. After a failure that lost() confirms, the connection is useless. In a
// forked child the connection sends nothing to the server, not even when it is destroyed.
class connection {
public:
    // Begins to connect; advance() goes on until it is ready.
    static result<std::unique_ptr<connection>> start(const target& to);

    // A connection that its owner closes. It must be idle: no query under way.
    static std::unique_ptr<connection> borrow(pg_conn* handle);

    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    ~connection();

    enum class progress { ready, pending };
    [[nodiscard]] result<progress> advance(local_time deadline);

    // Sends all calls, then waits for all answers: one round trip, one transaction, one commit. A
    // failure with effect::none has left nothing behind. If the COMMIT at the end was done, an
    // earlier failure that was rolled back to a savepoint does not count. Statements that the owner
    // of a borrowed connection has queued in a pipeline are sent first, and their rows come first.
    [[nodiscard]] result<std::vector<rows>> pipeline(std::span<const call> calls,
                                                     local_time deadline);
    // What the failure of the last pipeline or query was made of. Empty where it came from libpq.
    [[nodiscard]] const native_failure& last_failure() const { return last_failure_; }
    [[nodiscard]] result<void> prepare(std::span<const preparation> all, local_time deadline);

    // Any SQL without parameters; the rows of the last statement, as text.
    [[nodiscard]] result<rows> query(const std::string& sql, local_time deadline);

    // The same in steps, for callers that must not block: send, then call take() whenever the
    // socket is ready for what take() wants.
    enum class mode { plain, pipeline };
    using interest = socket_waiter::interest;
    // What has come so far. `behind`: how many of the calls belong to the next transaction.
    struct collection {
        explicit collection(mode of, std::size_t behind = 0) : how(of), answers(behind) {}

        const mode how;
        pipeline_answers answers;
        std::vector<rows> got = {};
        interest wanted = interest::read;
        bool waited = false; // for what is wanted
        // What the calls of the next transaction gave, if the server came to them.
        std::optional<result<std::vector<rows>>> further = {};
        native_failure further_why = {};
    };
    [[nodiscard]] result<void> send(std::span<const call> calls);
    [[nodiscard]] result<void> send(std::span<const preparation> all);
    [[nodiscard]] result<void> send_text(const std::string& sql);
    [[nodiscard]] result<void> send_sync(ending unless_sent); // ends what the owner has queued
    // Nothing: there is more to come.
    [[nodiscard]] std::optional<result<std::vector<rows>>> take(collection& to);
    [[nodiscard]] failure too_late(const collection& so_far); // the rest is not waited for

    [[nodiscard]] bool lost() const { return lost_; }
    [[nodiscard]] int server_version() const; // 150018 is 15.18
    [[nodiscard]] pg_conn* native() { return it_; }

private:
    connection() = default;

    [[nodiscard]] result<void> check_home() const;
    [[nodiscard]] result<std::vector<rows>> collect(mode how, local_time deadline);
    [[nodiscard]] std::optional<result<std::vector<rows>>> add(collection& to, rows one);
    [[nodiscard]] result<std::vector<rows>> finish(collection& from);
    [[nodiscard]] failure lost_with(const collection& so_far);
    [[nodiscard]] bool went_away_while_idle();
    [[nodiscard]] result<void> enter_pipeline();
    [[nodiscard]] result<void> queue(std::span<const call> calls);
    [[nodiscard]] failure stuck_in_copy(effect possible);
    [[nodiscard]] failure give_up(failure why);
    void expect(std::size_t calls);
    [[nodiscard]] failure failed(native_failure why, ending how);
    [[nodiscard]] failure libpq_failure(ending how) const;
    [[nodiscard]] failure cannot_connect() const;

    const home_process home_;
    pg_conn* it_ = nullptr;
    bool owned_ = true;
    bool lost_ = false;
    std::size_t sent_ = 0; // calls of the last pipeline
    native_failure last_failure_;
    int polling_ = 0; // what PQconnectPoll() waits for
    // Of the call that is being sent; kept for the next.
    std::vector<const char*> values_;
    std::vector<int> lengths_;
    std::vector<int> formats_;
};

} // namespace semel::postgres
