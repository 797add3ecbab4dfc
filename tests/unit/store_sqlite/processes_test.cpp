// Real processes and threads on one file.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

#include "databases/sqlite/client/schema.hpp"
#include "semel/databases/sqlite/transaction.hpp"
#include "semel/engine.hpp"
#include "sqlite_fixture.hpp"

namespace semel {
namespace {

class SqliteProcesses : public sqlite_test {
protected:
    // Runs `work` in a process of its own, which ends with what it returns.
    template <class F> static pid_t start(F work) {
        const pid_t child = ::fork();
        if (child != 0) return child;
        const int code = work();
        // Without the destructors of the test.
        ::_exit(code);
    }
    static int end_of(pid_t child) {
        int status = 0;
        ::waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
};

TEST_F(SqliteProcesses, ManyMayCreateTheTablesAtTheSameTime) {
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
        children.push_back(start([&] {
            const auto opened = open_sqlite_store({.path = path()});
            if (!opened) std::fprintf(stderr, "%s\n", describe(opened.error()).c_str());
            return opened ? 0 : 1;
        }));
    }

    for (const pid_t child : children) EXPECT_EQ(end_of(child), 0);
    EXPECT_EQ(sql("SELECT value FROM semel_meta WHERE name = 'schema_version'"),
              std::to_string(sqlite::migrations().size()));
}

TEST_F(SqliteProcesses, ManyContendAndEveryKeyIsStartedOnce) {
    open().reset();
    constexpr int keys = 100;
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
        children.push_back(start([&] {
            const auto store = open_sqlite_store({.path = path()});
            if (!store) return 255;
            int won = 0;
            for (int key = 0; key < keys; ++key) {
                const auto got = (*store)->call(id_of(std::to_string(key)), begin_by(anna));
                if (!got) return 254;
                won += std::holds_alternative<answers::started>(got->said) ? 1 : 0;
            }
            return won;
        }));
    }

    int won = 0;
    for (const pid_t child : children) won += end_of(child);

    EXPECT_EQ(won, keys);
}

TEST_F(SqliteProcesses, WhatWasAcknowledgedBeforeAKillIsThere) {
    open().reset();
    int acknowledged[2];
    ASSERT_EQ(::pipe(acknowledged), 0);
    const pid_t child = start([&] {
        const auto store = open();
        for (int key = 0;; ++key) {
            const auto id = id_of(std::to_string(key));
            const auto got = store->call(id, begin_by(anna));
            const auto mine = std::get<answers::started>(got.value().said);
            if (!store->call(id, complete_with(mine.by, "answer"))) return 1;
            if (::write(acknowledged[1], &key, sizeof key) != sizeof key) return 1;
        }
    });

    int last = 0;
    while (last < 50) ASSERT_EQ(::read(acknowledged[0], &last, sizeof last), int{sizeof last});
    ::kill(child, SIGKILL);
    end_of(child);
    ::close(acknowledged[1]);
    while (::read(acknowledged[0], &last, sizeof last) == int{sizeof last}) {
    }
    ::close(acknowledged[0]);

    const auto store = open();
    for (int key = 0; key <= last; ++key) {
        said<answers::replay>(store->call(id_of(std::to_string(key)), begin_by(bert)));
    }
}

TEST_F(SqliteProcesses, AKillInsideATransactionLeavesNeverARowWithoutItsRecord) {
    open().reset();
    sql("CREATE TABLE payment (key TEXT)");
    for (int round = 0; round < 5; ++round) {
        int paid[2];
        ASSERT_EQ(::pipe(paid), 0);
        const pid_t child = start([&] {
            engine own{open()};
            sqlite3* db = nullptr;
            if (sqlite3_open(path().c_str(), &db) != SQLITE_OK) return 1;
            sqlite_transaction here{db};
            for (int key = 0;; ++key) {
                const std::string name = std::to_string(round) + "." + std::to_string(key);
                const auto out = own.transact<void>(
                    here, {.tenant = "acme", .operation = "PAY", .key = name}, [&] {
                        const std::string row = "INSERT INTO payment VALUES ('" + name + "')";
                        sqlite3_exec(db, row.c_str(), nullptr, nullptr, nullptr);
                        if (::write(paid[1], "x", 1) != 1) ::_exit(1);
                    });
                if (!out.executed()) return 1;
            }
        });
        // Each time in the middle of some transaction.
        char one = 0;
        for (int i = 0; i <= 3 * round; ++i) ASSERT_EQ(::read(paid[0], &one, 1), 1);
        ::kill(child, SIGKILL);
        end_of(child);
        ::close(paid[0]);
        ::close(paid[1]);
    }

    EXPECT_EQ(sql("SELECT count(*) FROM payment FULL JOIN semel_record ON payment.key = "
                  "CAST(semel_record.key AS TEXT) WHERE payment.key IS NULL OR id IS NULL"),
              "0");
    EXPECT_NE(sql("SELECT count(*) FROM payment"), "0");
}

TEST_F(SqliteProcesses, RenewalsAndSweepsGetTheirTurnBesideABusyLane) {
    const auto store = open();
    const auto mine = said<answers::started>(store->call(id_of("long"), begin_by(anna)));
    std::atomic<bool> over = false;
    std::vector<std::thread> busy;
    for (int i = 0; i < 8; ++i) {
        busy.emplace_back([&, i] {
            for (int n = 0; !over; ++n) {
                const auto id = id_of(std::to_string(i) + "." + std::to_string(n));
                said<answers::started>(store->call(id, begin_by(bert)));
            }
        });
    }

    const local_time began = local_clock::now();
    for (int i = 0; i < 20; ++i) {
        said<answers::renewed>(store->call(
            id_of("long"), commands::renew{.by = mine.by, .lease = std::chrono::seconds{30}}));
        EXPECT_TRUE(store->sweep({}));
    }
    const duration took = local_clock::now() - began;
    over = true;
    for (auto& one : busy) one.join();

    // Far from the 20 time-outs of 5 s that a starved keeper would meet.
    EXPECT_LT(took, std::chrono::seconds{20});
}

TEST_F(SqliteProcesses, TheLogStaysSmallWhileOthersReadAllTheTime) {
    const auto store = open();
    const auto other = open();
    std::atomic<bool> over = false;
    std::thread reader{[&] {
        while (!over) said<answers::found>(other->call(id_of("x"), commands::lookup{}));
    }};

    std::uintmax_t largest = 0;
    for (int i = 0; i < 60; ++i) {
        const auto id = id_of(std::to_string(i));
        const auto mine = said<answers::started>(store->call(id, begin_by(anna)));
        const auto what = complete_with(mine.by, std::string(1 << 20, 'x'));
        said<answers::stored>(store->call(id, what));
        largest = std::max(largest, std::filesystem::file_size(path() + "-wal"));
    }
    over = true;
    reader.join();

    EXPECT_LT(largest, std::uintmax_t{40} << 20);
}

} // namespace
} // namespace semel
