#include "databases/postgres/client/schema.hpp"

#include <gtest/gtest.h>

namespace semel::postgres {
namespace {

TEST(PostgresSchema, ThePrefixReplacesTheWrittenOneEverywhere) {
    EXPECT_EQ(with_prefix("SELECT semel_a FROM semel_b, x", "pay_"), "SELECT pay_a FROM pay_b, x");
}

TEST(PostgresSchema, NoMigrationKeepsTheWrittenPrefix) {
    for (const auto& one : migrations()) {
        EXPECT_EQ(with_prefix(one.text, "pay_").find("semel_"), std::string::npos) << one.name;
    }
}

TEST(PostgresSchema, APrefixMustNeedNoQuotes) {
    for (const char* good : {"semel_", "a", "_x9", "orders_2024_"}) {
        EXPECT_TRUE(valid_prefix(good)) << good;
    }
    for (const char* bad : {"", "9a", "a-b", "a b", "Orders_", "a;", "a\"", "ä",
                            "a23456789012345678901234567890123"}) {
        EXPECT_FALSE(valid_prefix(bad)) << bad;
    }
}

} // namespace
} // namespace semel::postgres
