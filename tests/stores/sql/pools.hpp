// Payments of threads that share connections.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stores/sql/payments.hpp"

namespace semel {

class SqlPool : public SqlTransaction {
protected:
    database_pool_options usual() { return {.transaction = {.table_prefix = prefix()}}; }
    auto connect(int many) {
        std::vector<decltype(mine_.native())> made;
        for (int i = 0; i < many; ++i) {
            clients_.push_back(std::make_unique<database_client>());
            made.push_back(clients_.back()->native());
        }
        return made;
    }
    outcome<std::string> pay_in(database_pool& pool, std::string key) {
        return engine_.transact<std::string>(
            pool.transaction(), payment(std::move(key)), [this](pooled_connection on) {
                execute_on(on, "INSERT INTO " + payment_table() + " VALUES (5)");
                return std::string{"paid"};
            });
    }

    std::vector<std::unique_ptr<database_client>> clients_;
};

} // namespace semel
