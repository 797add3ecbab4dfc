// The connection breaks after every few bytes, in both directions: what was promised holds.
#include <functional>
#include <optional>
#include <thread>

#include "database.hpp"
#include "semel/engine.hpp"
#include "support/tcp_proxy.hpp"

namespace semel {
namespace {

using std::chrono::milliseconds;
using testing_support::direction;

// Prime, so that the cuts fall everywhere in the messages over the run.
constexpr std::size_t stride = 23;

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
        database_transaction port{client.native(),
                                  {.table_prefix = prefix(), .doubt_wait = milliseconds{500}}};
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
        const std::size_t whole[]{proxy_.passed(direction::to_server),
                                  proxy_.passed(direction::to_client)};
        for (const auto which : {direction::to_server, direction::to_client}) {
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

    static request request_of(std::string operation) {
        return {.tenant = "acme", .operation = std::move(operation), .key = "k"};
    }

private:
    void check_cut(const payment& how, direction which, std::size_t bytes) {
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
        std::this_thread::sleep_for(milliseconds{5});
        EXPECT_EQ(effects(), records());
        if (!out) {
            ++lost_; // the application has to ask again
        } else if (out->executed()) {
            EXPECT_EQ(effects(), "1");
            ++executed_;
        } else if (out->kind() == outcome_kind::unavailable) {
            EXPECT_EQ(effects(), "0") << describe(*out->why());
            ++lost_;
        }
    }

    engine engine_{open(), {}, {.sweep = {}}};
    int executed_ = 0;
    int lost_ = 0;
};

TEST_F(SqlTransactCuts, R_31_RecordAndEffectStayTogetherWhereverItBreaks) {
    cut_everywhere([&](auto& client, auto& port) { return transact(client, port); });
}

TEST_F(SqlTransactCuts, R_31_RecordAndEffectStayTogetherInATransactionOfTheCallers) {
    cut_everywhere([&](auto& client, auto& port) { return execute_in(client, port); });
}

class SqlStoreCuts : public SqlCuts {
protected:
    std::unique_ptr<store> open_through() {
        auto through = options_at(proxy_.port());
        through.table_prefix = prefix();
        through.lanes = 1;
        return open_database(through).value();
    }
};

TEST_F(SqlStoreCuts, ADefiniteAnswerIsTrueAndADoubtIsResolvedByAskingAgain) {
    int definite = 0;
    int doubts = 0;
    for (const auto which : {direction::to_server, direction::to_client}) {
        for (std::size_t bytes = 1; bytes < begin_bytes; bytes += begin_stride) {
            SCOPED_TRACE(bytes);
            clear();
            proxy_.never_cut();
            const auto store = open_through();
            proxy_.cut_after(which, bytes);
            const auto begun = store->call(id_of("k"), begin_by(anna));
            const std::string rows = sql("SELECT count(*) FROM " + record_table());
            if (begun) {
                EXPECT_EQ(rows, "1");
                ++definite;
                continue;
            }
            if (begun.error().possible == effect::none) {
                EXPECT_EQ(rows, "0") << describe(begun.error());
                ++definite;
                continue;
            }
            ++doubts;
            proxy_.never_cut();
            const auto again = store->call(id_of("k"), begin_by(anna));
            ASSERT_TRUE(again) << describe(again.error());
            const auto* busy = std::get_if<answers::in_progress>(&again->said);
            if (busy != nullptr)
                EXPECT_EQ(busy->holder.owner, anna);
            else
                EXPECT_TRUE(std::holds_alternative<answers::started>(again->said));
        }
    }
    EXPECT_GT(doubts, 0);
    EXPECT_GT(definite, 0);
}

} // namespace
} // namespace semel
