// Stores and transactions that were opened before the process forked: the children would share the
// parent's sessions, and take one another's answers.
#include <gmock/gmock.h>

#include <sys/wait.h>
#include <unistd.h>

#include "payments.hpp"
#include "support/forked.hpp"

namespace semel {
namespace {

using testing::HasSubstr;
using testing_support::said_by_child;

class SqlFork : public SqlTransaction {
protected:
    static std::string reason(const outcome<std::string>& of) {
        return of.why() ? describe(*of.why()) : "no reason";
    }
};

TEST_F(SqlFork, ChildrenAreRefusedAndTheParentGoesOn) {
    const auto store = open();
    const auto calls = [&] {
        std::string said;
        for (int i = 0; i < 50; ++i) {
            const auto got = store->call(id_of(std::to_string(i)), begin_by(anna));
            said = got ? "answered" : describe(got.error());
            if (got) return said;
        }
        return said;
    };

    for (int child = 0; child < 3; ++child) {
        EXPECT_THAT(said_by_child(calls), HasSubstr("the store was opened before fork()"));
    }
    EXPECT_EQ(calls(), "answered");
    EXPECT_THAT(said_by_child([&] {
                    const auto got = store->search({});
                    return got ? std::string{"found"} : describe(got.error());
                }),
                HasSubstr("the store was opened before fork()"));
}

TEST_F(SqlFork, TheChildMayDestroyWhatItInherited) {
    auto store = open();
    ASSERT_TRUE(store->call(id_of("k"), begin_by(anna)));
    const auto trips = counted().round_trips;

    const auto child = said_by_child([&] {
        store.reset();
        return std::string{"destroyed"};
    });
    const auto got = store->call(id_of("k"), commands::lookup{});

    EXPECT_EQ(child, "destroyed");
    ASSERT_TRUE(got) << describe(got.error());
    EXPECT_EQ(counted().round_trips, trips + 1) << "the session is the same";
}

TEST_F(SqlFork, TheChildMayOpenAnotherStore) {
    const auto mine = open();

    const auto child = said_by_child([&] {
        const auto own = open();
        const auto got = own->call(id_of("k"), begin_by(anna));
        return got ? std::string{name(got->said)} : describe(got.error());
    });

    EXPECT_EQ(child, "started");
    EXPECT_TRUE(std::holds_alternative<answers::in_progress>(
        mine->call(id_of("k"), begin_by(bert)).value().said));
}

TEST_F(SqlFork, ATransactionOfBeforeIsRefusedInTheChild) {
    const auto by_engine =
        said_by_child([&] { return reason(transact([] { return std::string{}; })); });
    const auto by_port = said_by_child([&] {
        database_engine own{open(), {}, {.log = null_logger()}};
        return reason(own.transact<std::string>(here_, payment(), [] { return std::string{}; })) +
               "; " +
               reason(own.execute_in<std::string>(here_, payment(), [] { return std::string{}; }));
    });

    EXPECT_THAT(by_engine, HasSubstr("the engine was opened before fork()"));
    EXPECT_THAT(by_port, HasSubstr("the connection was opened before fork()"));
    EXPECT_EQ(transact([&] { return pay("paid"); }).value(), "paid");
    EXPECT_EQ(payments(), "1");
}

TEST_F(SqlFork, AChildThatReturnsFromTheWorkEndsNothing) {
    pid_t forked = -1;

    const auto got = transact([&] {
        pay();
        forked = ::fork();
        if (forked == 0) ::alarm(60);
        int status = 1;
        if (forked > 0) ::waitpid(forked, &status, 0);
        return std::string{status == 0 ? "the child was refused" : "the child has ended it"};
    });
    if (forked == 0) ::_exit(why(got) == errc::unsupported ? 0 : 1);

    EXPECT_EQ(got.value(), "the child was refused");
    EXPECT_EQ(payments(), "1");
    EXPECT_EQ(recorded(), "1");
}

} // namespace
} // namespace semel
