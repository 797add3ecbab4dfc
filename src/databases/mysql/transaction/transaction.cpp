#include "semel/databases/mysql/transaction.hpp"

#include <memory>
#include <utility>

#include "databases/mysql/transaction/port.hpp"
#include "sql/pooled_transaction.hpp"

namespace semel {

mysql_transaction::mysql_transaction(st_mysql* connection, mysql_transaction_options options)
    : transaction(std::make_unique<mysql::port>(connection, std::move(options))) {}

// ---- a few connections for many callers ---------------------------------------------------------

namespace {

struct member final : sql::pool_member {
    member(st_mysql* connection, const mysql_pool_options& options)
        : pool_member(nullptr), on(connection, options.transaction) {
        on.it().keep_connected(options.on_reconnect);
    }
    [[nodiscard]] transaction_port& port() override { return on; }
    [[nodiscard]] bool lost() const override { return on.it().lost(); }

    mysql::port on;
};

std::shared_ptr<sql::pool> share(const std::vector<st_mysql*>& connections,
                                 const mysql_pool_options& options) {
    std::vector<std::unique_ptr<sql::pool_member>> members;
    for (st_mysql* const one : connections) {
        members.push_back(std::make_unique<member>(one, options));
    }
    return std::make_shared<sql::pool>(
        std::move(members), nullptr,
        sql::pool_limits{.driver = "mysql",
                         .table_prefix = options.transaction.table_prefix,
                         .wait_max = options.wait_max,
                         .waiting_max = options.waiting_max});
}

} // namespace

mysql_pool::mysql_pool(const std::vector<st_mysql*>& connections, const mysql_pool_options& options)
    : in_(share(connections, options)) {}

mysql_pool_transaction mysql_pool::transaction() {
    return mysql_pool_transaction{in_};
}

pool_counts mysql_pool::count() const {
    return in_->count();
}

mysql_pool_transaction::mysql_pool_transaction(std::shared_ptr<sql::pool> in)
    : transaction(std::make_unique<sql::pooled_transaction>(std::move(in))) {}

} // namespace semel
