// What has reached the disk when the file sink confirms an event. The C library's own calls are
// stood in for, so that the test sees them, in their order, and can let one fail.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messaging/events.hpp"

namespace semel::messaging_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct seen_syncs {
    std::vector<std::filesystem::path> all = {}; // that were done
    int error = 0;                               // what a sync of a folder fails with
};
thread_local seen_syncs* seen = nullptr;

int synced(int file, long call) {
    const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file));
    if (seen != nullptr && seen->error != 0 && std::filesystem::is_directory(path)) {
        errno = seen->error;
        return -1;
    }
    const int done = static_cast<int>(::syscall(call, file));
    if (done == 0 && seen != nullptr) seen->all.push_back(path);
    return done;
}

} // namespace
} // namespace semel::messaging_test

extern "C" int fsync(int file) {
    return semel::messaging_test::synced(file, SYS_fsync);
}
extern "C" int fdatasync(int file) {
    return semel::messaging_test::synced(file, SYS_fdatasync);
}

namespace semel::messaging_test {
namespace {

class FileSync : public testing::Test {
protected:
    FileSync() {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        folder_ = std::filesystem::canonical(::mkdtemp(name.data()));
        seen = &syncs_;
    }
    ~FileSync() override {
        seen = nullptr;
        std::filesystem::remove_all(folder_);
    }

    [[nodiscard]] std::filesystem::path file() const { return folder_ / "events.jsonl"; }

    std::filesystem::path folder_;
    seen_syncs syncs_;
};

TEST_F(FileSync, TheFolderOfANewFileIsSyncedBeforeAnEventIsConfirmed) {
    auto sink = outbox::open_sink("file:" + file().string()).value();

    const auto answers = deliver(*sink, events(2));

    EXPECT_EQ(count(answers, delivered::yes), 2U);
    EXPECT_THAT(syncs_.all, ElementsAre(folder_, file()));
}

// Another worker may have made it a moment ago, and not have synced the folder yet.
TEST_F(FileSync, AFileThatIsThereIsNoReasonNotToSyncItsFolder) {
    auto first = outbox::open_sink("file:" + file().string()).value();
    syncs_.all.clear();

    auto second = outbox::open_sink("file:" + file().string()).value();

    EXPECT_THAT(syncs_.all, ElementsAre(folder_));
}

TEST_F(FileSync, AFolderThatCannotBeSyncedIsRefusedAndNamed) {
    syncs_.error = EIO;

    const auto opened = outbox::open_sink("file:" + file().string());

    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::unavailable);
    EXPECT_THAT(opened.error().detail, HasSubstr(folder_.string()));
    EXPECT_THAT(opened.error().detail, HasSubstr("?sync=no"));
}

TEST_F(FileSync, AFileSystemThatCannotSyncFoldersWillDo) {
    syncs_.error = EINVAL;

    EXPECT_TRUE(outbox::open_sink("file:" + file().string()));
}

TEST_F(FileSync, NothingIsSyncedWhereThatIsNotWanted) {
    auto sink = outbox::open_sink("file:" + file().string() + "?sync=no").value();

    const auto answers = deliver(*sink, events(1));

    EXPECT_EQ(count(answers, delivered::yes), 1U);
    EXPECT_TRUE(syncs_.all.empty());
}

} // namespace
} // namespace semel::messaging_test
