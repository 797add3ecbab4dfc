#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "cli/tool.hpp"

namespace semel::test {
namespace {

class MigrateCommand : public testing::Test {
protected:
    MigrateCommand() {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~MigrateCommand() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string file() const { return folder_ + "/orders.db"; }
    [[nodiscard]] std::string url() const { return "sqlite:" + file(); }

    std::string folder_;
};

TEST_F(MigrateCommand, CreatesTheTablesOnce) {
    const tool_run first = run_tool({"migrate", "--store", url()});
    const tool_run second = run_tool({"migrate", "--store", url()});

    EXPECT_EQ(first.exit_code, 0) << first.err;
    EXPECT_EQ(first.out, "created: version 4\n");
    EXPECT_EQ(second.exit_code, 0) << second.err;
    EXPECT_EQ(second.out, "up to date: version 4\n");
}

TEST_F(MigrateCommand, ADryRunPrintsTheSqlAndChangesNothing) {
    const tool_run made = run_tool({"migrate", "--store", url(), "--dry-run", "--prefix", "pay_"});

    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_NE(made.out.find("CREATE TABLE pay_record"), std::string::npos) << made.out;
    EXPECT_EQ(made.out.find("semel_record"), std::string::npos) << made.out;
    EXPECT_TRUE(made.out.starts_with("BEGIN;\n")) << made.out;
    EXPECT_TRUE(made.out.ends_with("COMMIT;\n")) << made.out;
    EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(MigrateCommand, ADryRunOfWhatIsUpToDateIsAComment) {
    ASSERT_EQ(run_tool({"migrate", "--store", url()}).exit_code, 0);

    EXPECT_EQ(run_tool({"migrate", "--store", url(), "--dry-run"}).out,
              "-- up to date: version 4\n");
}

TEST_F(MigrateCommand, RefusesBadInput) {
    expect_refused(run_tool({"migrate"}));
    expect_refused(run_tool({"migrate", "--store", "oracle:x"}));
    expect_refused(run_tool({"migrate", "--store", "memory:"}));
    expect_refused(run_tool({"migrate", "--store", url() + "?colour=red"}));
    expect_refused(run_tool({"migrate", "--store", url(), "--prefix", "1;"}));
    expect_refused(run_tool({"migrate", "--store", "postgres://host/db?colour=red"}));
}

TEST_F(MigrateCommand, AServerThatIsNotThereIsAFailureOfTheJob) {
    const tool_run made = run_tool({"migrate", "--store", "postgres://u:secret@127.0.0.1:1/db"});

    EXPECT_EQ(made.exit_code, 1);
    EXPECT_EQ(made.out, "");
    EXPECT_NE(made.err.find("check that the server runs"), std::string::npos) << made.err;
    EXPECT_EQ(made.err.find("secret"), std::string::npos) << made.err;
}

} // namespace
} // namespace semel::test
