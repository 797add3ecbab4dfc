#include "semel/open.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>

namespace semel {
namespace {

using testing::HasSubstr;
using testing::Not;

class Open : public testing::Test {
protected:
    Open() {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~Open() override { std::filesystem::remove_all(folder_); }

    static failure why_not(std::string_view url, const store_options& options = {}) {
        auto opened = open_store(url, options);
        if (opened) return {.code = errc::internal, .detail = "it could be opened"};
        return std::move(opened).error();
    }

    std::string folder_;
};

TEST_F(Open, BuildsAMemoryStore) {
    const auto store = open_store("memory:");

    ASSERT_TRUE(store) << describe(store.error());
    EXPECT_TRUE((*store)->traits().in_memory);
}

TEST_F(Open, PassesBoundsToTheMemoryStore) {
    const auto store = open_store("memory:?records_max=1&bytes_max=64m").value();
    const commands::begin begin{.owner = {.high = 1, .low = 1}, .lease = std::chrono::seconds{1}};

    const auto first = store->call({.tenant = "t", .operation = "o", .key = "1"}, begin);
    const auto second = store->call({.tenant = "t", .operation = "o", .key = "2"}, begin);

    EXPECT_TRUE(first);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, errc::no_space);
}

TEST_F(Open, BuildsAnSqliteStore) {
    const auto store = open_store("sqlite:" + folder_ + "/a.db");

    ASSERT_TRUE(store) << describe(store.error());
    EXPECT_TRUE((*store)->traits().durable);
    EXPECT_TRUE(std::filesystem::exists(folder_ + "/a.db"));
}

TEST_F(Open, TakesAnAbsolutePathBehindAnEmptyHost) {
    EXPECT_TRUE(
        open_store("sqlite://" + folder_ + "/a.db?prefix=x_&lock_wait_ms=100&cache_bytes=8m"));
    EXPECT_TRUE(std::filesystem::exists(folder_ + "/a.db"));
}

TEST_F(Open, RefusesAHostBeforeAFile) {
    EXPECT_EQ(why_not("sqlite://db.example.com/a.db").code, errc::invalid_argument);
}

TEST_F(Open, TheUrlsPrefixGoesBeforeTheOptions) {
    const std::string url = "sqlite:" + folder_ + "/a.db";

    EXPECT_EQ(why_not(url, {.table_prefix = "1"}).code, errc::invalid_argument);
    EXPECT_TRUE(open_store(url + "?prefix=good_", {.table_prefix = "1"}));
}

TEST_F(Open, AnUnknownUrlListsTheKnownOnes) {
    for (const char* url : {"oracle:x", "", ":", "orders.db", "SQLITE:x"}) {
        const failure why = why_not(url);

        EXPECT_EQ(why.code, errc::unknown_store) << url;
        EXPECT_EQ(why.possible, effect::none);
        EXPECT_THAT(why.detail, HasSubstr("known: memory:, sqlite:path")) << url;
    }
}

TEST_F(Open, AnUnknownUrlSaysWhatMayBeMeant) {
    for (const auto& [url, meant] : {std::pair{"orders.db", "'sqlite:orders.db'?"},
                                     {"./a/b.db", "'sqlite:./a/b.db'?"},
                                     {"postgre://app@db/shop", "'postgres:'?"},
                                     {"Sqlite:x.db", "'sqlite:'?"},
                                     {"sqlit:x.db", "'sqlite:'?"},
                                     {"memory", "'memory:'?"}}) {
        const std::string hint = std::string{"did you mean "} + meant;

        EXPECT_THAT(why_not(url).detail, HasSubstr(hint));
        EXPECT_THAT(migrate(url, migrate_mode::dry_run).error().detail, HasSubstr(hint));
    }
    for (const char* url : {"oracle:x", "", "s3cret@host"}) {
        EXPECT_THAT(why_not(url).detail, Not(HasSubstr("did you mean"))) << url;
    }
}

TEST_F(Open, NothingIsMadeWhereAStoreMustExist) {
    for (const open_mode mode : {open_mode::existing, open_mode::read_only}) {
        const failure why = why_not("sqlite:" + folder_ + "/a.db", {.mode = mode});

        EXPECT_EQ(why.code, errc::schema_missing);
        EXPECT_FALSE(std::filesystem::exists(folder_ + "/a.db"));
    }
}

TEST_F(Open, AMemoryStoreIsNeverThereBefore) {
    for (const open_mode mode : {open_mode::existing, open_mode::read_only}) {
        const failure why = why_not("memory:", {.mode = mode});

        EXPECT_EQ(why.code, errc::unsupported);
        EXPECT_THAT(why.detail, HasSubstr("inside one process"));
    }
}

// Its front may be away, and would be written to.
TEST_F(Open, ATieredStoreIsLookedAtInItsTruth) {
    const std::string file = folder_ + "/a.db";
    static_cast<void>(open_store("sqlite:" + file).value());
    const std::string url = "tiered:?front=redis://127.0.0.1:1/0&truth=sqlite:" + file;

    EXPECT_TRUE(open_store(url, {.mode = open_mode::read_only}));
    EXPECT_EQ(why_not("tiered:?front=redis://h", {.mode = open_mode::read_only}).code,
              errc::invalid_argument);
}

TEST_F(Open, ADryRunReadsAFileThatIsReadOnly) {
    const std::string file = folder_ + "/a.db";
    static_cast<void>(open_store("sqlite:" + file).value());
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);

    const auto report = migrate("sqlite:" + file, migrate_mode::dry_run);

    ASSERT_TRUE(report) << describe(report.error());
    EXPECT_EQ(report->sql, "");
}

TEST_F(Open, CheckingAUrlSaysWhatOpeningWouldSay) {
    const std::string file = "sqlite:" + folder_ + "/a.db";
    for (const std::string& url :
         {std::string{"nope:"}, std::string{"memory:x"}, std::string{"sqlite:"}, file + "?prefix=1",
          file + "?lane=1", std::string{"redis://h:0/0"},
          std::string{"redis://127.0.0.1:1/0?lanes=65"}, std::string{"mysql://127.0.0.1:1"},
          std::string{"mysql://127.0.0.1:1/d?batch_max=2k"},
          std::string{"postgres://127.0.0.1:1/d?lanes=65"},
          std::string{"postgres://127.0.0.1:1/d?nonsense=1"},
          std::string{"tiered:?front=memory:&truth=memory:"},
          "tiered:?front=redis://127.0.0.1:1&truth=" + file + "?prefix=1"}) {
        const auto checked = check_url(url);
        ASSERT_FALSE(checked) << url;
        const failure opened = why_not(url);
        EXPECT_EQ(checked.error().code, opened.code) << url;
        EXPECT_EQ(checked.error().detail, opened.detail) << url;
    }
    EXPECT_EQ(check_url(file, {.table_prefix = "a-b"}).error().code, errc::invalid_argument);
}

TEST_F(Open, CheckingAUrlOpensNothing) {
    for (const std::string& url :
         {"sqlite:" + folder_ + "/a.db", "sqlite:" + folder_ + "/none/a.db",
          std::string{"memory:?records_max=5"}, std::string{"redis://127.0.0.1:1/0"},
          std::string{"mysql://127.0.0.1:1/d"}, std::string{"postgres://127.0.0.1:1/d"},
          std::string{"tiered:?front=redis://127.0.0.1:1&truth=postgres://127.0.0.1:1/d"}}) {
        const auto checked = check_url(url);
        EXPECT_TRUE(checked) << url
                             << describe(checked ? failure{errc::internal} : checked.error());
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Open, UnknownParametersAreErrors) {
    EXPECT_EQ(why_not("memory:?record_max=5").code, errc::invalid_argument);
    EXPECT_EQ(why_not("sqlite:" + folder_ + "/a.db?cache=5").code, errc::invalid_argument);
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/a.db"));
}

TEST_F(Open, MemoryHasNoPath) {
    EXPECT_EQ(why_not("memory:orders").code, errc::invalid_argument);
}

TEST_F(Open, SqliteNeedsAPath) {
    EXPECT_EQ(why_not("sqlite:").code, errc::invalid_argument);
}

} // namespace
} // namespace semel
