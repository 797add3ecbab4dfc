// What the work, or the connection, may leave a transaction in.
#include <thread>
#include <utility>

#include "stores/sql/doubt.hpp"
#include "support/failing_memory.hpp"

namespace semel {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

class PostgresLeftovers : public SqlTransaction {
protected:
    // Work that begins something and throws.
    void fail_after(const std::function<void()>& begins) {
        const auto before = local_clock::now();
        EXPECT_THROW((void)transact([&]() -> std::string {
                         begins();
                         throw std::runtime_error{"a bad line"};
                     }),
                     std::runtime_error);
        EXPECT_LT(local_clock::now() - before, seconds{10});
        EXPECT_FALSE(in_transaction());
        EXPECT_TRUE(transact([&] { return pay("7"); }).executed());
    }
};

TEST_F(PostgresLeftovers, ACopyToTheServerIsEnded) {
    fail_after([&] {
        PQclear(PQexec(mine_.native(), ("COPY " + payment_table() + " FROM STDIN").c_str()));
        PQputCopyData(mine_.native(), "1\n", 2);
    });
    EXPECT_EQ(payments(), "1");
}

TEST_F(PostgresLeftovers, ACopyFromTheServerIsEnded) {
    fail_after([&] {
        PQclear(PQexec(mine_.native(), "COPY (SELECT generate_series(1, 100000)) TO STDOUT"));
    });
}

TEST_F(PostgresLeftovers, AQueryUnderWayIsCancelled) {
    fail_after([&] { PQsendQuery(mine_.native(), "SELECT pg_sleep(60)"); });
}

TEST_F(PostgresLeftovers, AConnectionThatIsLostUnnoticedIsSaidToBeSo) {
    database_client doomed;
    auto port = port_on(doomed);

    const auto out = engine_.transact<std::string>(port, payment(), [&] {
        PQsendQuery(doomed.native(), "SELECT pg_terminate_backend(pg_backend_pid())");
        while (PQconsumeInput(doomed.native()) == 1) std::this_thread::sleep_for(milliseconds{1});
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::unavailable);
    EXPECT_EQ(out.why()->possible, effect::none);
    EXPECT_EQ(recorded(), "0");
}

TEST_F(PostgresLeftovers, NoWaitIsAMomentAndNotForEver) {
    here_ = database_transaction{mine_.native(),
                                 {.table_prefix = prefix(), .lock_wait = milliseconds{0}}};
    database_client other;
    auto port = port_on(other);

    const auto holder = engine_.transact<std::string>(port, payment(), [&] {
        EXPECT_EQ(why(transact([&] { return pay("2"); })), errc::timed_out);
        return std::string{"1"};
    });

    EXPECT_TRUE(holder.executed());
}

// Whatever fails behind the work, nobody is to find its key and its rows locked.
TEST_F(PostgresLeftovers, AreNotLeftOpenWhereMemoryRunsOut) {
    int nth = 1;
    for (bool reached = true; reached; ++nth) {
        database_client client;
        auto port = port_on(client);
        const auto key = "k" + std::to_string(nth);
        ASSERT_TRUE(
            engine_.transact<std::string>(port, payment("w" + key), [] { return std::string{"1"}; })
                .executed());
        try {
            (void)engine_.transact<std::string>(port, payment(key), [&]() -> std::string {
                client.sql("INSERT INTO " + payment_table() + " VALUES (5)");
                testing_support::failing_allocation = nth;
                throw std::runtime_error{"no"};
            });
        } catch (const std::exception&) {
            // The work's own exception, or that there is no memory, as an exception or an outcome.
        }
        reached = std::exchange(testing_support::failing_allocation, 0) == 0;

        EXPECT_TRUE(transact([] { return std::string{"7"}; }, payment(key)).executed()) << nth;
    }
    EXPECT_GT(nth, 3);
    EXPECT_EQ(payments(), "0");
}

using PostgresDoubt = SqlDoubt;

TEST_F(PostgresDoubt, StaysWhereTheSearchPathLeadsElsewhere) {
    const std::string elsewhere = prefix() + "elsewhere";
    sql("CREATE SCHEMA " + elsewhere);
    for (const char* table : {"record", "meta", "checkpoint", "payment"}) {
        const std::string both = prefix() + table;
        sql("CREATE TABLE " + elsewhere + "." + both + " (LIKE public." + both + " INCLUDING ALL)");
        sql("INSERT INTO " + elsewhere + "." + both + " SELECT * FROM public." + both);
    }
    sql("CREATE DOMAIN " + elsewhere + "." + prefix() + "key_lock AS bigint");
    client_.sql("SET search_path = " + elsewhere);

    const auto out = pay_in_doubt();

    EXPECT_EQ(out.kind(), outcome_kind::unconfirmed);
    EXPECT_THAT(out.why()->detail, HasSubstr("search_path"));
    EXPECT_EQ(sql("SELECT count(*) FROM " + elsewhere + "." + record_table()), "1");
    sql("DROP SCHEMA " + elsewhere + " CASCADE");
}

} // namespace
} // namespace semel
