#include "databases/mysql/client/errors.hpp"

#include <gtest/gtest.h>

namespace semel::mysql {
namespace {

struct error_row {
    const char* what;
    unsigned number;
    errc as;
};

constexpr error_row error_rows[]{
    {"disk full", 1021, errc::no_space},
    {"out of memory", 1037, errc::no_space},
    {"too many connections", 1040, errc::unavailable},
    {"no right to the database", 1044, errc::invalid_argument},
    {"wrong password", 1045, errc::invalid_argument},
    {"no such database", 1049, errc::invalid_argument},
    {"record changed since it was read", 1020, errc::conflict},
    {"server shutdown", 1053, errc::unavailable},
    {"no such column", 1054, errc::schema_missing},
    {"table full", 1114, errc::no_space},
    {"host blocked", 1129, errc::unavailable},
    {"host not allowed", 1130, errc::invalid_argument},
    {"no right to the table", 1142, errc::read_only},
    {"no such table", 1146, errc::schema_missing},
    {"packet too large", 1153, errc::limit_exceeded},
    {"error during commit", 1180, errc::unavailable},
    {"lock wait time-out", 1205, errc::timed_out},
    {"deadlock", 1213, errc::conflict},
    {"no such prepared statement", 1243, errc::unavailable},
    {"server is read-only", 1290, errc::read_only},
    {"no such savepoint", 1305, errc::transaction_broken},
    {"query was stopped", 1317, errc::unavailable},
    {"data too long", 1406, errc::limit_exceeded},
    {"too many prepared statements", 1461, errc::unavailable},
    {"binlog of statements", 1665, errc::unsupported},
    {"deadlock of named locks", 3058, errc::conflict},
    {"another member of the group was faster", 3101, errc::conflict},
    {"TLS is required", 3159, errc::invalid_argument},
    {"row is locked", 3572, errc::timed_out},
    {"was idle for too long", 4031, errc::unavailable},
    {"index corrupted", 1712, errc::corrupt},
    {"read-only transaction", 1792, errc::read_only},
    {"connection was killed", 1927, errc::unavailable},
    {"statement time-out", 1969, errc::timed_out},
    {"nobody listens", 2002, errc::unavailable},
    {"no such host", 2005, errc::unavailable},
    {"connection was gone", 2006, errc::unavailable},
    {"connection was lost", 2013, errc::unavailable},
    {"TLS", 2026, errc::invalid_argument},
    {"authentication plugin", 2059, errc::invalid_argument},
    {"syntax: a bug of ours", 1064, errc::internal},
    {"duplicate key: a bug of ours", 1062, errc::internal},
};

TEST(MysqlErrors, EveryNumberHasItsFailure) {
    for (const auto& one : error_rows) {
        const auto why = failure_of({.number = one.number, .message = "x"}, ending::rolled_back);

        EXPECT_EQ(why.code, one.as) << one.what;
        EXPECT_EQ(why.possible, effect::none) << one.what;
    }
}

TEST(MysqlErrors, ALostConnectionLeavesADoubtWhateverTheServerSaid) {
    for (const auto& one : error_rows) {
        const auto why = failure_of({.number = one.number, .message = "x"}, ending::unknown);

        EXPECT_EQ(why.code, one.as) << one.what;
        EXPECT_EQ(why.possible, effect::unknown) << one.what;
    }
}

TEST(MysqlErrors, TheDetailHasTheWordsTheNumberAndAnAdvice) {
    const auto why = failure_of({.number = 1021, .message = "Disk full"}, ending::rolled_back);

    EXPECT_EQ(why.detail, "mysql: Disk full (1021); free space on the server's disk");
}

// What may come when a commit is done must leave a doubt.
TEST(MysqlErrors, OnlyErrorsOfTheStatementsThemselvesUndoThem) {
    for (const unsigned before : {1062U, 1205U, 1213U, 1305U, 1406U, 1644U}) {
        EXPECT_TRUE(undoes(before)) << before;
    }
    for (const unsigned after : {1053U, 1180U, 1317U, 1927U, 1969U, 2006U, 2013U}) {
        EXPECT_FALSE(undoes(after)) << after;
    }
}

} // namespace
} // namespace semel::mysql
