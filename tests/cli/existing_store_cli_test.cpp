// Commands for operators open what is there: a mistyped name makes no store, and a look needs no
// right to write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/tool.hpp"
#include "semel/open.hpp"

namespace semel::test::existing_store_cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using words = std::vector<std::string>;

const std::vector<words> looks{{"records", "list"},   {"records", "show", "acme", "PAY", "done"},
                               {"records", "export"}, {"stats"},
                               {"outbox", "list"},    {"outbox", "list", "--json"}};
const std::vector<words> acts{
    {"records", "resolve", "acme", "PAY", "done", "--as", "not-executed", "--reason", "r", "--yes"},
    {"records", "delete", "acme", "PAY", "done", "--reason", "r", "--yes"},
    {"sweep"},
    {"reconcile"},
    {"reconcile", "--once"},
    {"outbox", "requeue", "--all", "--yes"},
    {"outbox", "drop", "1", "--yes"},
    {"relay", "--sink", "stdout:"},
    {"relay", "--sink", "stdout:", "--once"}};

std::string text_of(const words& of) {
    std::string made;
    for (const std::string& one : of) made += one + " ";
    return made;
}

class ExistingStore : public testing::Test {
protected:
    ExistingStore() {
        std::string name = (fs::temp_directory_path() / "semel-existing-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
        mode_of(folder_, 0755);
    }
    ~ExistingStore() override {
        mode_of(folder_, 0755);
        fs::remove_all(folder_);
    }

    [[nodiscard]] std::string file() const { return folder_ + "/records.db"; }
    [[nodiscard]] std::string url() const { return "sqlite:" + file(); }

    static void mode_of(const std::string& file, mode_t mode) {
        EXPECT_EQ(::chmod(file.c_str(), mode), 0) << file;
    }
    // With one record, that is said to run.
    [[nodiscard]] std::unique_ptr<store> made_store() const {
        auto made = open_store(url()).value();
        const commands::begin begin{.owner = {1, 2}, .lease = std::chrono::hours{1}};
        EXPECT_TRUE(made->call({.tenant = "acme", .operation = "PAY", .key = "done"}, begin));
        return made;
    }
    [[nodiscard]] words with_store(words of) const {
        of.insert(of.end(), {"--store", url()});
        return of;
    }
    // Of a service on the store, and more.
    [[nodiscard]] std::string config_file(const std::string& more = "") const {
        const std::string name = folder_ + "/semel.toml";
        std::ofstream{name} << "[gateway]\nupstream = \"http://127.0.0.1:1\"\n"
                               "[tenants]\nsource = \"single\"\nname = \"main\"\n"
                               "[store]\nurl = \""
                            << url() << "\"\n"
                            << more;
        return name;
    }
    [[nodiscard]] std::vector<std::string> files() const {
        std::vector<std::string> all;
        for (const auto& one : fs::directory_iterator{folder_}) {
            all.push_back(one.path().filename());
        }
        return all;
    }

    std::string folder_;
};

TEST_F(ExistingStore, AMistypedPathIsAnErrorAndNoNewStore) {
    for (const auto& commands : {looks, acts}) {
        for (const words& one : commands) {
            const tool_run got = run_words(with_store(one));

            EXPECT_EQ(got.exit_code, 1) << text_of(one);
            EXPECT_EQ(got.out, "") << text_of(one);
            EXPECT_THAT(got.err, AllOf(HasSubstr("there is no database at '" + file() + "'"),
                                       HasSubstr("semel migrate --store " + url())))
                << text_of(one);
        }
    }
    EXPECT_THAT(files(), ElementsAre());
}

TEST_F(ExistingStore, AMistypedPrefixMakesNoTables) {
    made_store().reset();
    for (const auto& commands : {looks, acts}) {
        for (words one : commands) {
            one.insert(one.end(), {"--prefix", "pay_"});
            const tool_run got = run_words(with_store(one));

            EXPECT_EQ(got.exit_code, 1) << text_of(one);
            EXPECT_THAT(got.err, HasSubstr("the tables pay_* are not in this file"));
        }
    }
    EXPECT_EQ(
        run_words({"migrate", "--store", url(), "--prefix", "pay_", "--dry-run"}).out.find("BEGIN"),
        0U);
}

TEST_F(ExistingStore, MemoryHasNothingToLookAt) {
    const tool_run got = run_words({"records", "list", "--store", "memory:"});

    expect_refused(got);
    EXPECT_THAT(got.err, HasSubstr("inside one process"));
}

TEST_F(ExistingStore, ABackupThatIsReadOnlyIsLookedAtAndStaysAsItIs) {
    made_store().reset();
    mode_of(file(), 0444);
    mode_of(folder_, 0555);

    for (const words& one : looks) {
        const tool_run got = run_as_another(with_store(one));
        EXPECT_EQ(got.exit_code, 0) << text_of(one) << got.err;
    }
    EXPECT_THAT(run_as_another(with_store({"records", "list"})).out, HasSubstr("done"));

    EXPECT_THAT(files(), ElementsAre("records.db"));
}

TEST_F(ExistingStore, WhoMayOnlyReadSeesWhatAServiceHasJustWritten) {
    const auto service = made_store();
    for (const char* end : {"", "-wal", "-shm"}) mode_of(file() + end, 0444);
    mode_of(folder_, 0555);

    const tool_run before = run_as_another(with_store({"records", "list"}));
    EXPECT_TRUE(service->call({.tenant = "acme", .operation = "PAY", .key = "next"},
                              commands::begin{.owner = {3, 4}, .lease = std::chrono::hours{1}}));
    const tool_run after = run_as_another(with_store({"records", "list"}));

    EXPECT_EQ(before.exit_code, 0) << before.err;
    EXPECT_THAT(before.out, HasSubstr("done"));
    EXPECT_THAT(after.out, AllOf(HasSubstr("done"), HasSubstr("next")));
}

TEST_F(ExistingStore, WhatChangesRecordsStillNeedsTheRightToWrite) {
    made_store().reset();
    mode_of(file(), 0444);
    mode_of(folder_, 0555);

    for (const words& one : acts) {
        const tool_run got = run_as_another(with_store(one));
        EXPECT_EQ(got.exit_code, 1) << text_of(one);
        EXPECT_THAT(got.err, HasSubstr("writable for this user")) << text_of(one);
    }
}

TEST_F(ExistingStore, EveryCommandTakesTheStoreOfAConfiguration) {
    made_store().reset();
    const std::string config = config_file();

    for (const words& one : looks) {
        words all = one;
        all.insert(all.end(), {"--config", config});
        const tool_run got = run_words(all);
        EXPECT_EQ(got.exit_code, 0) << text_of(all) << got.err;
    }
    for (const words& one : {words{"sweep"},
                             {"reconcile", "--once"},
                             {"migrate"},
                             {"outbox", "requeue", "--all", "--yes"},
                             {"relay", "--sink", "stdout:", "--once"}}) {
        words all = one;
        all.insert(all.end(), {"--config", config});
        const tool_run got = run_words(all);
        EXPECT_EQ(got.exit_code, 0) << text_of(all) << got.err;
    }
}

// As the console shows it.
TEST_F(ExistingStore, TheOutboxOfAConfigurationIsThatOfItsFirstRelay) {
    made_store().reset();
    const std::string shop = "sqlite:" + folder_ + "/shop.db";
    const std::string config =
        config_file("[[relay]]\nsink = \"stdout:\"\nstore = \"" + shop + "\"\n");

    const tool_run missing = run_words({"outbox", "list", "--config", config});
    EXPECT_EQ(run_words({"migrate", "--store", shop}).exit_code, 0);
    const tool_run there = run_words({"outbox", "list", "--config", config});

    EXPECT_EQ(missing.exit_code, 1);
    EXPECT_THAT(missing.err, HasSubstr("shop.db"));
    EXPECT_EQ(there.exit_code, 0) << there.err;
}

TEST_F(ExistingStore, AMissingNameOfTheStoreSaysHowToGiveIt) {
    for (const words& one : {words{"records", "list"},
                             {"outbox", "list"},
                             {"migrate"},
                             {"relay", "--sink", "stdout:"}}) {
        const tool_run got = run_words(one);
        expect_refused(got);
        EXPECT_THAT(got.err, AllOf(HasSubstr("--store URL"), HasSubstr("--config FILE")));
    }
}

TEST_F(ExistingStore, AUrlThatNamesNoStoreSaysWhatMayBeMeant) {
    const tool_run file_name = run_words({"records", "list", "--store", "nope.db"});
    const tool_run scheme = run_words({"stats", "--store", "postgre://app:pw@db/shop"});

    expect_refused(file_name);
    EXPECT_THAT(file_name.err, HasSubstr("did you mean 'sqlite:nope.db'?"));
    expect_refused(scheme);
    EXPECT_THAT(scheme.err, HasSubstr("did you mean 'postgres:'?"));
    EXPECT_EQ(scheme.err.find("pw"), std::string::npos) << scheme.err;
}

} // namespace
} // namespace semel::test::existing_store_cli
