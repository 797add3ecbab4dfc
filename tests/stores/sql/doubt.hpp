// A payment whose COMMIT is not answered.
#pragma once

#include "stores/sql/payments.hpp"
#include "support/tcp_proxy.hpp"

namespace semel {

// The answer to COMMIT is lost, and what was committed is looked for on a new connection.
class SqlDoubt : public SqlTransaction {
protected:
    outcome<std::string> pay_in_doubt(const std::function<void()>& after_the_cut = [] {}) {
        database_transaction port{
            client_.native(),
            {.table_prefix = prefix(), .doubt_wait = std::chrono::milliseconds{500}}};
        return engine_.transact<std::string>(port, payment(), [&] {
            client_.sql("INSERT INTO " + payment_table() + " VALUES (5)");
            cut_answer_to_commit(proxy_);
            after_the_cut();
            return std::string{"7"};
        });
    }

    testing_support::tcp_proxy proxy_{database_port()};
    database_client client_ = client_at(proxy_.port());
};

} // namespace semel
