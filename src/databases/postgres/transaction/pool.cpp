#include <memory>
#include <utility>

#include "databases/postgres/transaction/caller_transaction.hpp"
#include "semel/databases/postgres/transaction.hpp"
#include "sql/pooled_transaction.hpp"

namespace semel {

namespace postgres {

namespace {

struct member final : sql::pool_member {
    member(pg_conn* connection, std::unique_ptr<socket_waiter> waiter,
           const postgres_pool_options& options)
        : pool_member(std::move(waiter)),
          transaction(connection, waits.get(), options.transaction) {
        transaction.session().keep_connected(options.on_reconnect);
    }
    [[nodiscard]] transaction_port& port() override { return transaction; }
    [[nodiscard]] bool lost() const override { return transaction.session().lost(); }
    [[nodiscard]] std::string_view looked_in() const override {
        return transaction.session().looked_in();
    }

    caller_transaction transaction;
};

// The end of one transaction travels with the beginning of the next.
class pooled_transaction final : public sql::pooled_transaction {
public:
    using sql::pooled_transaction::pooled_transaction;

    done commit() override;
    done rollback() override;

private:
    [[nodiscard]] caller_transaction& here() { return static_cast<member*>(at())->transaction; }
    done make_way_for(sql::pool_successor& next);
};

transaction_port::done pooled_transaction::commit() {
    sql::pool_successor next{in()};
    if (!next) {
        auto done = co_await sql::pooled_transaction::commit();
        co_return done;
    }
    auto done = co_await here().ending().commit(&next.id());
    if (here().entered()) static_cast<void>(co_await make_way_for(next));
    co_return done;
}

transaction_port::done pooled_transaction::rollback() {
    if (at() != nullptr && !stays() && here().ending().only_rolls_back()) {
        sql::pool_successor next{in()};
        if (next) static_cast<void>(co_await here().ending().roll_back_before(next.id()));
        if (here().entered()) static_cast<void>(co_await make_way_for(next));
    }
    auto back = co_await sql::pooled_transaction::rollback();
    co_return back;
}

// The connection is in the next one's transaction.
transaction_port::done pooled_transaction::make_way_for(sql::pool_successor& next) {
    sql::pool_member& what = *at();
    pass_on();
    if (next.take(what)) co_return result<void>{};
    take_again(what);
    static_cast<void>(co_await what.port().rollback());
    give_back();
    co_return result<void>{};
}

using make_waiter = std::function<std::unique_ptr<socket_waiter>()>;

std::shared_ptr<sql::pool> share(const std::vector<pg_conn*>& connections, const make_waiter& make,
                                 const postgres_pool_options& options) {
    std::vector<std::unique_ptr<sql::pool_member>> members;
    for (pg_conn* const one : connections) {
        members.push_back(std::make_unique<member>(one, make ? make() : nullptr, options));
    }
    return std::make_shared<sql::pool>(
        std::move(members), make ? make() : nullptr,
        sql::pool_limits{.driver = "postgres",
                         .table_prefix = options.transaction.table_prefix,
                         .wait_max = options.wait_max,
                         .waiting_max = options.waiting_max});
}

} // namespace

} // namespace postgres

postgres_pool::postgres_pool(const std::vector<pg_conn*>& connections,
                             const postgres_pool_options& options)
    : in_(postgres::share(connections, {}, options)) {}

postgres_pool::postgres_pool(const std::vector<pg_conn*>& connections,
                             const std::function<std::unique_ptr<socket_waiter>()>& make_waiter,
                             const postgres_pool_options& options)
    : in_(postgres::share(connections, make_waiter, options)) {}

// A call that still waits has lost its loop. Otherwise it would have an answer.
postgres_pool::~postgres_pool() {
    in_->stop();
}

postgres_pool_transaction postgres_pool::transaction() {
    return postgres_pool_transaction{in_};
}

pool_counts postgres_pool::count() const {
    return in_->count();
}

postgres_pool_transaction::postgres_pool_transaction(std::shared_ptr<sql::pool> in)
    : transaction(std::make_unique<postgres::pooled_transaction>(std::move(in))) {}

} // namespace semel
