// Stores that must be there already, and stores that are only looked at.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <set>

#include "sqlite_fixture.hpp"

namespace semel {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class SqliteOpenMode : public sqlite_test {
protected:
    ~SqliteOpenMode() override { mode_of(folder(), 0755); }

    [[nodiscard]] sqlite_store_options existing() const {
        return {.path = path(), .mode = open_mode::existing};
    }
    [[nodiscard]] sqlite_store_options to_look() const {
        return {.path = path(), .mode = open_mode::read_only};
    }

    // A store with one record, which is closed again.
    void make() { said<answers::started>(open()->call(id_of("k"), begin_by(anna))); }

    // The same, copied while it was open: the record is in the log alone.
    void make_copy_of_open_store(const std::set<std::string>& ends) {
        const std::string other = folder() + "/other.db";
        const auto store = open({.path = other});
        said<answers::started>(store->call(id_of("k"), begin_by(anna)));
        for (const std::string& end : ends) fs::copy_file(other + end, path() + end);
    }

    static void mode_of(const std::string& file, mode_t mode) {
        EXPECT_EQ(::chmod(file.c_str(), mode), 0) << file;
    }

    [[nodiscard]] std::vector<std::string> files() const {
        std::vector<std::string> all;
        for (const auto& one : fs::directory_iterator{folder()})
            all.push_back(one.path().filename());
        std::sort(all.begin(), all.end());
        return all;
    }

    static std::string content(const std::string& file) {
        std::ifstream in{file, std::ios::binary};
        return {std::istreambuf_iterator<char>{in}, {}};
    }

    // "found", "absent", or why the store cannot be read.
    static std::string look(const sqlite_store_options& options) {
        const auto opened = open_sqlite_store(options);
        if (!opened) return describe(opened.error());
        const auto got = (*opened)->call(id_of("k"), commands::lookup{});
        if (!got) return describe(got.error());
        return std::get<answers::found>(got->said).current ? "found" : "absent";
    }

    // Root may write everything, so another user looks.
    void expect_another_sees(const std::string& what) {
        const auto child = [&] {
            if (::geteuid() == 0 && ::setuid(65'534) != 0) std::exit(2);
            std::fprintf(stderr, "%s\n", look(to_look()).c_str());
            std::exit(0);
        };
        EXPECT_EXIT(child(), testing::ExitedWithCode(0), what);
    }
};

TEST_F(SqliteOpenMode, AMissingFileIsNamedAndNotMade) {
    for (const auto& options : {existing(), to_look()}) {
        const failure why = open_failure(options);

        EXPECT_EQ(why.code, errc::schema_missing);
        EXPECT_EQ(why.possible, effect::none);
        EXPECT_THAT(why.detail, AllOf(HasSubstr("no database at '" + path() + "'"),
                                      HasSubstr("semel migrate --store sqlite:" + path())));
        EXPECT_THAT(files(), ElementsAre());
    }
}

TEST_F(SqliteOpenMode, MissingTablesAreNotMade) {
    sql("CREATE TABLE orders (id)");
    for (const auto& options : {existing(), to_look()}) {
        const failure why = open_failure(options);

        EXPECT_EQ(why.code, errc::schema_missing);
        EXPECT_THAT(why.detail, AllOf(HasSubstr("the tables semel_* are not in this file"),
                                      HasSubstr("semel migrate")));
    }
    EXPECT_EQ(sql("SELECT count(*) FROM sqlite_schema"), "1");
    EXPECT_EQ(sql("PRAGMA journal_mode"), "delete");
}

TEST_F(SqliteOpenMode, OlderTablesAreNotUpgraded) {
    make();
    sql("UPDATE semel_meta SET value = 3 WHERE name = 'schema_version'");
    for (const auto& options : {existing(), to_look()}) {
        const failure why = open_failure(options);

        EXPECT_EQ(why.code, errc::schema_missing);
        EXPECT_THAT(why.detail, AllOf(HasSubstr("old version 3"), HasSubstr("semel migrate")));
    }
    EXPECT_EQ(sql("SELECT value FROM semel_meta WHERE name = 'schema_version'"), "3");
}

TEST_F(SqliteOpenMode, AnExistingStoreIsReadAndWritten) {
    make();

    const auto store = open(existing());

    EXPECT_EQ(look(existing()), "found");
    said<answers::started>(store->call(id_of("another"), begin_by(anna)));
}

TEST_F(SqliteOpenMode, ALookChangesNothingAndLeavesNothing) {
    make();
    const std::string before = content(path());

    EXPECT_EQ(look(to_look()), "found");
    const auto refused = open(to_look())->call(id_of("another"), begin_by(anna));

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::read_only);
    EXPECT_EQ(refused.error().possible, effect::none);
    EXPECT_EQ(content(path()), before);
    EXPECT_THAT(files(), ElementsAre("records.db"));
}

TEST_F(SqliteOpenMode, AFileInAReadOnlyFolderIsRead) {
    make();
    mode_of(path(), 0444);
    mode_of(folder(), 0555);

    expect_another_sees("found");
}

// The log that SQLite would make belonged to the user who looks, and the store's own process could
// not write it.
TEST_F(SqliteOpenMode, NoLogOfAnotherUserIsLeftBesideAReadOnlyFile) {
    make();
    mode_of(path(), 0444);
    mode_of(folder(), 0777);

    expect_another_sees("found");

    EXPECT_THAT(files(), ElementsAre("records.db"));
}

TEST_F(SqliteOpenMode, ALogWithItsIndexIsReadInAReadOnlyFolder) {
    make_copy_of_open_store({"", "-wal", "-shm"});
    for (const char* end : {"", "-wal", "-shm"}) mode_of(path() + end, 0444);
    mode_of(folder(), 0555);

    expect_another_sees("found");
}

TEST_F(SqliteOpenMode, ALogThatCannotBeReadIsNotPassedOver) {
    make_copy_of_open_store({"", "-wal"});
    for (const char* end : {"", "-wal"}) mode_of(path() + end, 0444);
    mode_of(folder(), 0555);

    expect_another_sees("read_only: .*-wal' holds records .* copy both files to another folder");
}

TEST_F(SqliteOpenMode, ALogIsReadInAFolderThatIsWritable) {
    make_copy_of_open_store({"", "-wal"});

    EXPECT_EQ(look(to_look()), "found");
}

TEST_F(SqliteOpenMode, AFileThatMayNotBeReadSaysSo) {
    make();
    mode_of(path(), 0000);
    mode_of(folder(), 0555);

    expect_another_sees("unavailable: .* cannot be read; make the file readable");
}

TEST_F(SqliteOpenMode, PathsWithSignsOfAUriAreReadAsTheyAre) {
    make();
    const std::string odd = folder() + "/100%25 ?mode=rw#1.db";
    fs::rename(path(), odd);
    mode_of(odd, 0444);
    mode_of(folder(), 0555);

    const auto child = [&] {
        if (::geteuid() == 0 && ::setuid(65'534) != 0) std::exit(2);
        std::fprintf(stderr, "%s\n", look({.path = odd, .mode = open_mode::read_only}).c_str());
        std::exit(0);
    };
    EXPECT_EXIT(child(), testing::ExitedWithCode(0), "found");
}

} // namespace
} // namespace semel
