// A store, a connection and a file that were open when the process forked.
#include <gmock/gmock.h>

#include "semel/databases/sqlite/transaction.hpp"
#include "semel/engine.hpp"
#include "sqlite_fixture.hpp"
#include "support/forked.hpp"

namespace semel {
namespace {

using testing::HasSubstr;
using testing_support::said_by_child;

template <class T> std::string why_of(const result<T>& got) {
    return got ? "done" : describe(got.error());
}

class SqliteFork : public sqlite_test {
protected:
    [[nodiscard]] std::string opening() const {
        return why_of(open_sqlite_store({.path = path()}));
    }
};

TEST_F(SqliteFork, AStoreOpenedBeforeIsRefusedInTheChild) {
    const auto mine = open();
    const record_id id = id_of("k");

    const auto called = said_by_child([&] { return why_of(mine->call(id, commands::lookup{})); });
    const auto submitted = said_by_child([&] {
        std::string said = "not told";
        mine->submit({.id = id, .what = commands::lookup{}},
                     [&](result<reply> got) { said = why_of(got); });
        return said;
    });
    const auto swept = said_by_child([&] { return why_of(mine->sweep({})); });
    const auto audited = said_by_child([&] { return why_of(mine->audit(id)); });
    const auto searched = said_by_child([&] { return why_of(mine->search({})); });

    for (const auto& one : {called, submitted, swept, audited, searched}) {
        EXPECT_THAT(one, HasSubstr("the store was opened before fork()"));
    }
    EXPECT_TRUE(mine->call(id, commands::lookup{}));
}

TEST_F(SqliteFork, TheChildMayDestroyWhatItInherited) {
    auto mine = open();

    const auto child = said_by_child([&] {
        mine.reset();
        return std::string{"destroyed"};
    });

    EXPECT_EQ(child, "destroyed");
    EXPECT_TRUE(mine->call(id_of("k"), begin_by(anna)));
}

// SQLite would use it there without locks: what the child commits is lost when the parent closes.
TEST_F(SqliteFork, AFileThatWasOpenIsRefusedInTheChild) {
    const auto mine = open();

    EXPECT_THAT(said_by_child([&] { return opening(); }),
                HasSubstr("was open when this process was forked"));
    EXPECT_EQ(opening(), "done") << "in the parent";
}

TEST_F(SqliteFork, AFileThatWasClosedBeforeCanBeOpenedInTheChild) {
    open().reset();

    EXPECT_EQ(said_by_child([&] { return opening(); }), "done");
}

TEST_F(SqliteFork, AGrandchildIsRefusedTheFileOfItsParent) {
    const auto child = said_by_child([&] {
        const auto own = open();
        return opening() + ", " + said_by_child([&] { return opening(); });
    });

    EXPECT_THAT(child, HasSubstr("done, "));
    EXPECT_THAT(child, HasSubstr("was open when this process was forked"));
}

class SqliteForkedTransaction : public SqliteFork {
protected:
    SqliteForkedTransaction() {
        open().reset();
        sqlite3_open(path().c_str(), &db_);
        sqlite3_exec(db_, "PRAGMA journal_mode=WAL; CREATE TABLE done(key TEXT)", nullptr, nullptr,
                     nullptr);
    }
    ~SqliteForkedTransaction() override { sqlite3_close(db_); }

    std::string transact(transaction& here, engine& with) {
        const auto got = with.transact<void>(
            here, {.tenant = "acme", .operation = "ORDER_CREATE", .key = "k"},
            [&] { sqlite3_exec(db_, "INSERT INTO done VALUES ('k')", nullptr, nullptr, nullptr); });
        return got.why() ? describe(*got.why()) : "done";
    }

    sqlite3* db_ = nullptr;
    engine engine_{open({.path = folder() + "/engine.db"}), {}, {.log = null_logger()}};
};

TEST_F(SqliteForkedTransaction, OneOfBeforeIsRefusedInTheChild) {
    sqlite_transaction here{db_};

    const auto by_engine = said_by_child([&] { return transact(here, engine_); });
    const auto by_port = said_by_child([&] {
        engine own{open({.path = folder() + "/childs.db"}), {}, {.log = null_logger()}};
        return transact(here, own);
    });

    EXPECT_THAT(by_engine, HasSubstr("the engine was opened before fork()"));
    EXPECT_THAT(by_port, HasSubstr("sqlite: the connection was opened before fork()"));
    EXPECT_EQ(transact(here, engine_), "done");
    EXPECT_EQ(sql("SELECT count(*) FROM done"), "1");
}

TEST_F(SqliteForkedTransaction, AChildThatReturnsFromTheWorkCommitsNothing) {
    sqlite_transaction here{db_};
    pid_t forked = -1;

    const auto got = engine_.transact<void>(
        here, {.tenant = "acme", .operation = "ORDER_CREATE", .key = "k"}, [&] {
            forked = ::fork();
            if (forked == 0) ::alarm(60);
        });
    if (forked == 0) {
        const bool refused = got.why() && got.why()->code == errc::unsupported;
        ::_exit(refused && sqlite3_get_autocommit(db_) == 0 ? 0 : 1);
    }
    int status = -1;
    ::waitpid(forked, &status, 0);

    EXPECT_EQ(status, 0) << "neither committed nor rolled back by the child";
    EXPECT_EQ(got.kind(), outcome_kind::executed);
}

} // namespace
} // namespace semel
