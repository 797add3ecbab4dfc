#include "databases/postgres/store/batch_rows.hpp"

#include <gtest/gtest.h>

namespace semel::postgres {
namespace {

const batch_columns columns{
    {"key", type::bytea}, {"owner", type::uuid}, {"body", type::bytea}, {"now", type::int8}};

TEST(PostgresBatchRows, WhatHasNoFixedSizeIsUnnestedAndTheRestTakenByTheNumberOfTheRow) {
    EXPECT_EQ(with_rows("SELECT q.now, q.body FROM rows q WHERE q.owner = $2", columns),
              "SELECT ($4::bigint[])[q.row], q.body FROM unnest($1::bytea[], $3::bytea[]) WITH "
              "ORDINALITY AS q (key, body, row) WHERE ($2::uuid[])[q.row] = $2");
}

TEST(PostgresBatchRows, NamesThatOnlyLookLikeItStay) {
    for (const char* other : {"seq.now", "q.now_or_never", "arrows q", "q.row"}) {
        EXPECT_EQ(with_rows(other, columns), other);
    }
}

} // namespace
} // namespace semel::postgres
