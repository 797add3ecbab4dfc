#include "databases/postgres/client/errors.hpp"

#include <gtest/gtest.h>

namespace semel::postgres {
namespace {

struct error_row {
    const char* what;
    const char* state;
    errc as;
};

constexpr error_row error_rows[]{
    {"libpq's own: nobody answers", "", errc::unavailable},
    {"wrong password", "28P01", errc::invalid_argument},
    {"not in pg_hba.conf", "28000", errc::invalid_argument},
    {"no such database", "3D000", errc::invalid_argument},
    {"no such schema", "3F000", errc::invalid_argument},
    {"no such table", "42P01", errc::schema_missing},
    {"no such column", "42703", errc::schema_missing},
    {"not allowed", "42501", errc::read_only},
    {"standby", "25006", errc::read_only},
    {"idle in transaction", "25P03", errc::unavailable},
    {"disk full", "53100", errc::no_space},
    {"server out of memory", "53200", errc::no_space},
    {"too many connections", "53300", errc::unavailable},
    {"configured limit", "53400", errc::unavailable},
    {"serialisation failure", "40001", errc::conflict},
    {"deadlock", "40P01", errc::conflict},
    {"rolled back otherwise", "40000", errc::conflict},
    {"row locked by a stranger", "55P03", errc::timed_out},
    {"statement time-out", "57014", errc::timed_out},
    {"shutting down", "57P01", errc::unavailable},
    {"crashed", "57P02", errc::unavailable},
    {"starting up", "57P03", errc::unavailable},
    {"database dropped", "57P04", errc::unavailable},
    {"statement not prepared", "26000", errc::unavailable},
    {"connection failure", "08006", errc::unavailable},
    {"file error", "58030", errc::unavailable},
    {"too large", "54000", errc::limit_exceeded},
    {"damaged data", "XX001", errc::corrupt},
    {"damaged index", "XX002", errc::corrupt},
    {"division by zero: a bug of ours", "22012", errc::internal},
    {"unique violation: a bug of ours", "23505", errc::internal},
};

TEST(PostgresErrors, EveryStateHasItsFailure) {
    for (const auto& one : error_rows) {
        const auto why = failure_of({.state = one.state, .message = "x"}, ending::rolled_back);

        EXPECT_EQ(why.code, one.as) << one.what;
        EXPECT_EQ(why.possible, effect::none) << one.what;
    }
}

TEST(PostgresErrors, ALostConnectionLeavesADoubtWhateverTheServerSaid) {
    for (const auto& one : error_rows) {
        const auto why = failure_of({.state = one.state, .message = "x"}, ending::unknown);

        EXPECT_EQ(why.code, one.as) << one.what;
        EXPECT_EQ(why.possible, effect::unknown) << one.what;
    }
}

TEST(PostgresErrors, TheDetailIsOneLineWithTheWordsTheStateAndAnAdvice) {
    const auto why = failure_of(
        {.state = "53100", .message = "ERROR:  could not extend\nHINT: x\n"}, ending::rolled_back);

    EXPECT_EQ(why.detail, "postgres: ERROR:  could not extend HINT: x (53100); free space on the "
                          "server's disk");
}

} // namespace
} // namespace semel::postgres
