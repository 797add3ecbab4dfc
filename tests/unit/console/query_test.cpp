#include "edge/console/query.hpp"

#include "counter_desk.hpp"

namespace semel::edge::console_test {
namespace {

const time_point noon{std::chrono::hours{12}};

record_query good(std::string_view text) {
    auto got = read_search(text, noon);
    if (const auto* wrong = std::get_if<std::string>(&got)) ADD_FAILURE() << *wrong;
    return got.index() == 0 ? std::get<record_query>(got) : record_query{};
}

TEST(ConsoleQuery, AsksForWhatIsGiven) {
    const auto query = good("tenant=a%20b&operation=PAY&key=k+1&state=succeeded,failed_final"
                            "&result_ref=r&older=1h&newer=2h&limit=7");

    EXPECT_EQ(query.tenant, "a b");
    EXPECT_EQ(query.operation, "PAY");
    EXPECT_EQ(query.key, "k 1");
    EXPECT_EQ(query.states.size(), 2);
    EXPECT_EQ(query.result_ref, "r");
    EXPECT_EQ(query.created_until, noon - 1h);
    EXPECT_EQ(query.created_from, noon - 2h);
    EXPECT_EQ(query.records_max, 7);
}

TEST(ConsoleQuery, AnEmptyFieldOfAFormAsksForNothing) {
    const auto query = good("tenant=&operation=&key=x&state=&cursor=");

    EXPECT_FALSE(query.tenant);
    EXPECT_EQ(query.key, "x");
    EXPECT_TRUE(query.states.empty());
}

TEST(ConsoleQuery, WhatIsWrongIsSaid) {
    for (const char* text : {"who=me", "key=%zz", "key=a&key=b", "state=gone", "older=soon",
                             "limit=0", "limit=1001", "lapsed_for=x"}) {
        EXPECT_EQ(read_search(text, noon).index(), 1) << text;
    }
    EXPECT_EQ(read_record_id("tenant=a&operation=b").index(), 1);
    EXPECT_EQ(read_record_id("tenant=a&operation=b&key=" + std::string(256, 'k')).index(), 1);
}

TEST(ConsoleQuery, ARecordsLinkLeadsBackToIt) {
    const record_id id{.tenant = "a&b", .operation = "c=d", .key = std::string{"\0 +%\xFE", 5}};

    EXPECT_EQ(std::get<record_id>(read_record_id(to_query(id))), id);
}

} // namespace
} // namespace semel::edge::console_test
