// Files that are not what they should be: a named error with advice, and nothing changed.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "sqlite_fixture.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

class SqliteFile : public sqlite_test {
protected:
    static std::string content(const std::string& file) {
        std::ifstream in{file, std::ios::binary};
        return {std::istreambuf_iterator<char>{in}, {}};
    }

    // Root may write everything, so the look at a read-only file is taken by somebody else.
    static void expect_read_only(const sqlite_store_options& options) {
        const auto look = [&] {
            if (::geteuid() == 0 && ::setuid(65'534) != 0) std::exit(2);
            const failure why = open_failure(options);
            std::fprintf(stderr, "%s\n", describe(why).c_str());
            std::exit(why.code == errc::read_only && why.possible == effect::none ? 0 : 1);
        };
        EXPECT_EXIT(look(), testing::ExitedWithCode(0), "writable for this user");
    }
};

TEST_F(SqliteFile, AFileThatIsNotADatabaseIsLeftAlone) {
    const std::string text =
        "Dear diary, today I was taken for a database. " + std::string(9'000, '.');
    std::ofstream{path()} << text;

    const failure why = open_failure({.path = path()});

    EXPECT_EQ(why.code, errc::not_a_store);
    EXPECT_EQ(why.possible, effect::none);
    EXPECT_THAT(why.detail, HasSubstr("not an SQLite database"));
    EXPECT_EQ(content(path()), text);
}

TEST_F(SqliteFile, AnEmptyFileBecomesAStore) {
    std::ofstream{path()};

    said<answers::started>(open()->call(id_of("k"), begin_by(anna)));
}

TEST_F(SqliteFile, OnlyItsOwnerMayReadWhatIsInIt) {
    const mode_t before = ::umask(022);

    const auto store = open();
    said<answers::started>(store->call(id_of("k"), begin_by(anna)));

    ::umask(before);
    for (const char* end : {"", "-wal", "-shm"}) {
        struct stat about {};
        ASSERT_EQ(::stat((path() + end).c_str(), &about), 0) << end;
        EXPECT_EQ(about.st_mode & 0777U, 0600U) << end;
    }
}

TEST_F(SqliteFile, TheModeOfAFileThatIsThereStays) {
    std::ofstream{path()};
    ASSERT_EQ(::chmod(path().c_str(), 0640), 0);

    static_cast<void>(open());

    struct stat about {};
    ASSERT_EQ(::stat(path().c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0640U);
}

TEST_F(SqliteFile, AFolderIsNotAStore) {
    const failure why = open_failure({.path = folder()});

    EXPECT_EQ(why.code, errc::not_a_store);
    EXPECT_THAT(why.detail, HasSubstr("name a file in it"));
}

TEST_F(SqliteFile, AMissingFolderIsNamed) {
    const failure why = open_failure({.path = folder() + "/not/there.db"});

    EXPECT_EQ(why.code, errc::unavailable);
    EXPECT_THAT(why.detail, HasSubstr("check that the folder exists"));
}

TEST_F(SqliteFile, AReadOnlyFileIsRefused) {
    open().reset();
    ::chmod(folder().c_str(), 0755);
    ::chmod(path().c_str(), 0444);

    expect_read_only({.path = path()});
}

TEST_F(SqliteFile, AReadOnlyFolderIsRefused) {
    ::chmod(folder().c_str(), 0555);

    expect_read_only({.path = path()});

    ::chmod(folder().c_str(), 0755);
}

TEST_F(SqliteFile, AWritableFileInAReadOnlyFolderIsRefused) {
    open().reset();
    ::chmod(path().c_str(), 0666);
    ::chmod(folder().c_str(), 0555);

    expect_read_only({.path = path()});

    ::chmod(folder().c_str(), 0755);
}

TEST_F(SqliteFile, AFileKeptLockedByAnotherTimesOut) {
    open().reset();
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);

    const failure why = open_failure({.path = path(), .lock_wait = std::chrono::milliseconds{5}});

    EXPECT_EQ(why.code, errc::timed_out);
    EXPECT_EQ(why.possible, effect::none);
    sqlite3_close(other);
}

TEST_F(SqliteFile, APathThatLooksLikeAUriIsAPlainPath) {
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder());

    open({.path = "file:x?mode=memory"}).reset();

    EXPECT_TRUE(std::filesystem::exists("file:x?mode=memory"));
    std::filesystem::current_path(before);
}

TEST_F(SqliteFile, OptionsThatMakeNoSenseAreRefusedBeforeTheFileIsTouched) {
    EXPECT_EQ(open_failure({.path = ""}).code, errc::invalid_argument);
    EXPECT_EQ(open_failure({.path = ":memory:"}).code, errc::invalid_argument);
    EXPECT_EQ(open_failure({.path = path(), .table_prefix = "a b"}).code, errc::invalid_argument);
    EXPECT_EQ(open_failure({.path = path(), .lock_wait = duration{-1}}).code,
              errc::invalid_argument);
    EXPECT_EQ(open_failure({.path = path(), .batch_max = 0}).code, errc::invalid_argument);
    EXPECT_FALSE(std::filesystem::exists(path()));
}

} // namespace
} // namespace semel
