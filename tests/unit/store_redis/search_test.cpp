// Searches against a scripted server: what SCAN may do between two pages.
#include "databases/redis/store/search.hpp"

#include <gtest/gtest.h>

#include "databases/redis/client/keys.hpp"
#include "databases/redis/store/record_codec.hpp"
#include "scripted_transport.hpp"

namespace semel::redis {
namespace {

class RedisSearch : public testing::Test {
protected:
    static std::string scan_reply(const std::string& cursor, const std::vector<std::string>& keys) {
        std::string made = "*2\r\n" + bulk(cursor) + "*" + std::to_string(keys.size()) + "\r\n";
        for (const auto& key : keys) {
            const record_id id{"t", "o", key};
            made += bulk(record_key("semel:", hash_of(id), id));
        }
        return made;
    }
    // The time, and a record.
    static std::string running() {
        return "*2\r\n" + bulk("1") + bulk("0") + bulk(encode(record{}, 1));
    }

    // One page of one record, and the keys of it.
    record_page page(const std::string& cursor, const std::string& answers) {
        scripted_server server;
        told_ = server.connection({.answers = std::string{hello} + answers});
        const auto on = std::make_shared<shared_link>(link_options{.connect = server.maker()});
        const task_setting setting{.prefix = "semel:"};
        backend lookups{on, setting, nullptr};
        return search({.on = *on, .prefix = setting.prefix, .lookups = lookups},
                      {.records_max = 1, .cursor = cursor})
            .value();
    }

    std::shared_ptr<lines> told_;
};

TEST_F(RedisSearch, ARefusedScanIsAMatterOfTime) {
    scripted_server server;
    server.connection({.answers = std::string{hello} + "-NOPERM this user has no permissions\r\n"});
    shared_link on{{.connect = server.maker()}};

    const auto got = scan(on, "semel:", "0");

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::unavailable);
}

TEST_F(RedisSearch, PageThatEndsWithinAScanGoesOnWithinIt) {
    const auto first = page("", scan_reply("5", {"b", "a"}) + running());
    const auto second = page(first.cursor, scan_reply("5", {"a", "b"}) + running());

    ASSERT_EQ(first.records.size(), 1U);
    EXPECT_EQ(first.records[0].id.key, "a");
    ASSERT_EQ(second.records.size(), 1U);
    EXPECT_EQ(second.records[0].id.key, "b");
    EXPECT_EQ(second.cursor, "5");
}

TEST_F(RedisSearch, ScanThatHasBecomeAnotherOneIsLookedAtFromItsStart) {
    const auto first = page("", scan_reply("5", {"b", "c"}) + running());
    const auto second = page(first.cursor, scan_reply("7", {"a", "b", "c"}) + running());

    EXPECT_EQ(first.records.at(0).id.key, "b");
    EXPECT_EQ(second.records.at(0).id.key, "a");
}

TEST_F(RedisSearch, EmptyPageHasACursorAfterABoundedNumberOfScans) {
    std::string answers;
    for (int i = 1; i <= 10; ++i) answers += scan_reply(std::to_string(i), {});

    const auto got = page("", answers);

    EXPECT_TRUE(got.records.empty());
    EXPECT_EQ(got.cursor, "10");
}

TEST_F(RedisSearch, LastPageHasNoCursor) {
    const auto got = page("5", scan_reply("0", {"a"}) + running());

    EXPECT_EQ(got.records.size(), 1U);
    EXPECT_EQ(got.cursor, "");
}

} // namespace
} // namespace semel::redis
