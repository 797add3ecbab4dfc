// Payments on a connection that breaks after every few bytes, in both directions.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "database.hpp"
#include "semel/engine.hpp"
#include "support/tcp_proxy.hpp"

namespace semel {

class SqlCuts : public database_test {
protected:
    SqlCuts() { sql("CREATE TABLE " + prefix() + "payment (amount int)"); }
    ~SqlCuts() override { sql("DROP TABLE " + prefix() + "payment"); }

    std::string effects() { return sql("SELECT count(*) FROM " + prefix() + "payment"); }
    std::string records() {
        return sql("SELECT count(*) FROM " + record_table() + " WHERE operation = 'PAY'");
    }
    void clear() {
        sql("DELETE FROM " + prefix() + "payment");
        sql("DELETE FROM " + record_table());
    }

    testing_support::tcp_proxy proxy_{database_port()};
};

class SqlTransactCuts : public SqlCuts {
protected:
    using payment =
        std::function<outcome<std::string>(database_client& client, database_transaction& port)>;

    outcome<std::string> transact(database_client& client, database_transaction& port) {
        return engine_.transact<std::string>(port, request_of("PAY"), [&] { return pay(client); });
    }
    // The caller commits, and throws where it cannot.
    outcome<std::string> execute_in(database_client& client, database_transaction& port) {
        client.sql("BEGIN");
        auto out =
            engine_.execute_in<std::string>(port, request_of("PAY"), [&] { return pay(client); });
        client.sql("COMMIT");
        return out;
    }

    // One payment on a new connection that is prepared already; cut where `cut` says. None if the
    // application itself met the error.
    std::optional<outcome<std::string>> run(const payment& how, const std::function<void()>& cut) {
        proxy_.wait_until_idle();
        proxy_.never_cut();
        database_client client = client_at(proxy_.port());
        database_transaction port{
            client.native(),
            {.table_prefix = prefix(), .doubt_wait = std::chrono::milliseconds{500}}};
        (void)engine_.transact<std::string>(port, request_of("WARM"), [] { return std::string{}; });
        proxy_.never_cut();
        cut();
        try {
            auto out = how(client, port);
            (void)out.kind(); // throws what the work has thrown
            return out;
        } catch (const std::runtime_error&) {
            return std::nullopt;
        }
    }

    // A crash at every statement boundary and between: 0 or 1 effects, never a record without its
    // effect, never an answer that is not true.
    void cut_everywhere(const payment& how) {
        ASSERT_TRUE(run(how, [] {})->executed());
        const std::size_t whole[]{proxy_.passed(testing_support::direction::to_server),
                                  proxy_.passed(testing_support::direction::to_client)};
        for (const auto which :
             {testing_support::direction::to_server, testing_support::direction::to_client}) {
            const std::size_t end = whole[static_cast<std::size_t>(which)];
            for (std::size_t bytes = 1; bytes <= end; bytes += stride) {
                check_cut(how, which, bytes);
            }
            check_cut(how, which, 2 * end); // comes too late
        }
        // Cuts after the commit was under way end in a re-read, earlier ones in nothing.
        EXPECT_GT(executed_, 0);
        EXPECT_GT(lost_, 0);
    }

    database_engine engine_{open(), {}, {.sweep = {}}};

    static request request_of(std::string operation) {
        return {.tenant = "acme", .operation = std::move(operation), .key = "k"};
    }

private:
    // Prime, so that the cuts fall everywhere in the messages over the run.
    static constexpr std::size_t stride = 23;

    void check_cut(const payment& how, testing_support::direction which, std::size_t bytes) {
        SCOPED_TRACE(std::to_string(bytes) + " bytes");
        clear();
        check(run(how, [&] { proxy_.cut_after(which, bytes); }));
    }

    std::string pay(database_client& client) {
        client.sql("INSERT INTO " + prefix() + "payment VALUES (1)");
        return "paid";
    }

    void check(const std::optional<outcome<std::string>>& out) {
        // The server may need a moment to see that its client is gone.
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
        EXPECT_EQ(effects(), records());
        if (!out) {
            ++lost_; // the application has to ask again
        } else if (out->executed()) {
            EXPECT_EQ(effects(), "1");
            ++executed_;
        } else if (out->kind() == outcome_kind::unavailable) {
            EXPECT_EQ(effects(), "0") << describe(*out->why());
            ++lost_;
        } else if (out->kind() == outcome_kind::unconfirmed) {
            ++lost_;
        }
    }

    int executed_ = 0;
    int lost_ = 0;
};

} // namespace semel
