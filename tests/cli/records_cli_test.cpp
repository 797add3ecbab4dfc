// `semel records`, `semel stats`, `semel sweep`: what operators do, on a store with some of each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "cli/tool.hpp"
#include "semel/open.hpp"

namespace semel::test::records_cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

class RecordsCommand : public ::testing::Test {
protected:
    RecordsCommand() {
        std::string name = std::filesystem::temp_directory_path() / "semel-records-XXXXXX";
        folder_ = ::mkdtemp(name.data());
        const auto store = open(url()).value();
        const time_point now = ask(*store, "none", commands::lookup{}).now;
        const claim done = begin(*store, "done", lease_expiry::retry, now, 1min);
        stored_result paid{.body = "paid", .type = "text/plain", .ref = "tx_9"};
        seal(paid);
        ask(*store, "done", commands::complete{.by = done, .result = paid, .retention = 1h});
        begin(*store, "running", lease_expiry::retry, now, 1h);
        begin(*store, "held", lease_expiry::hold, now - 1h, 1s);
        const claim old = begin(*store, "old", lease_expiry::retry, now - 3h, 1min);
        ask(*store, "old", commands::complete{.by = old, .retention = 1h}, now - 3h);
    }
    ~RecordsCommand() override { std::filesystem::remove_all(folder_); }

    static reply ask(store& on, const std::string& key, command what,
                     std::optional<time_point> at = {}) {
        return on.call({.tenant = "acme", .operation = "PAY", .key = key}, std::move(what), at)
            .value();
    }
    static claim begin(store& on, const std::string& key, lease_expiry policy, time_point at,
                       duration lease) {
        const auto got = ask(
            on, key,
            commands::begin{.owner = {1, 2}, .lease = lease, .policy = {.on_lease_expiry = policy}},
            at);
        return std::get<answers::started>(got.said).by;
    }

    [[nodiscard]] std::string url() const { return "sqlite:" + folder_ + "/records.db"; }
    [[nodiscard]] json shown(std::string_view key) const {
        const tool_run got =
            run_tool({"records", "show", "acme", "PAY", key, "--store", url(), "--json"});
        return got.exit_code == 0 ? json::parse(got.out) : json{};
    }

    std::string folder_;
};

TEST_F(RecordsCommand, ListsWhatFitsAsATable) {
    const tool_run all = run_tool({"records", "list", "--store", url()});
    EXPECT_EQ(all.exit_code, 0) << all.err;
    EXPECT_THAT(all.out, AllOf(HasSubstr("TENANT"), HasSubstr("tx_9"), HasSubstr("in doubt"),
                               HasSubstr("lease for"), Not(HasSubstr("old"))));

    const tool_run stuck = run_tool({"records", "list", "--store", url(), "--state", "stuck"});
    EXPECT_THAT(stuck.out, AllOf(HasSubstr("held"), Not(HasSubstr("done"))));
    const tool_run by_ref = run_tool({"records", "list", "--store", url(), "--ref", "tx_9"});
    EXPECT_THAT(by_ref.out, AllOf(HasSubstr("done"), Not(HasSubstr("running"))));
    const tool_run aged = run_tool({"records", "list", "--store", url(), "--older", "30m"});
    EXPECT_THAT(aged.out, AllOf(HasSubstr("held"), Not(HasSubstr("running"))));
    const tool_run by_key = run_tool({"records", "list", "--store", url(), "--key", "running"});
    EXPECT_THAT(by_key.out, AllOf(HasSubstr("running"), Not(HasSubstr("held"))));
    const tool_run by_prefix =
        run_tool({"records", "list", "--store", url(), "--key-prefix", "runn"});
    EXPECT_THAT(by_prefix.out, AllOf(HasSubstr("running"), Not(HasSubstr("held"))));
}

TEST_F(RecordsCommand, ListsObjectsForPrograms) {
    const tool_run got =
        run_tool({"records", "list", "--store", url(), "--state", "succeeded", "--json"});

    const json one = json::parse(got.out);
    EXPECT_EQ(one["key"], "done");
    EXPECT_EQ(one["state"], "succeeded");
    EXPECT_EQ(one["result"]["ref"], "tx_9");
    EXPECT_FALSE(one["result"].contains("body"));
}

TEST_F(RecordsCommand, SaysWhereThereIsMore) {
    const tool_run got = run_tool({"records", "list", "--store", url(), "--limit", "1"});

    EXPECT_EQ(std::count(got.out.begin(), got.out.end(), '\n'), 2) << got.out;
    EXPECT_THAT(got.err, HasSubstr("more"));
}

TEST_F(RecordsCommand, ShowsOneWithItsResult) {
    EXPECT_EQ(shown("done")["result"]["body"], "paid");
    const tool_run text = run_tool({"records", "show", "acme", "PAY", "held", "--store", url()});
    EXPECT_THAT(text.out, AllOf(HasSubstr("hold"), HasSubstr("in doubt")));
    const tool_run none = run_tool({"records", "show", "acme", "PAY", "nobody", "--store", url()});
    EXPECT_EQ(none.exit_code, 1);
}

TEST_F(RecordsCommand, ExportsEverythingALineEach) {
    const std::string file = folder_ + "/all.jsonl";
    const tool_run got =
        run_tool({"records", "export", "--store", url(), "--out", file, "--results"});

    EXPECT_EQ(got.exit_code, 0) << got.err;
    EXPECT_EQ(got.err, "3 records\n") << "and no bar: this is no terminal";
    std::ifstream lines{file};
    std::map<std::string, json> all;
    for (std::string line; std::getline(lines, line);) {
        json one = json::parse(line);
        all.emplace(one["key"], one);
    }
    EXPECT_EQ(all.size(), 3);
    EXPECT_EQ(all["done"]["result"]["body"], "paid");
}

TEST_F(RecordsCommand, ResolvesWhatIsInDoubtOnceAndOnlyIfToldSo) {
    const auto resolve = [&](std::string_view key, std::string_view yes) {
        return run_tool(
            {"records", "resolve",   "acme",           "PAY",     key,      "--store",    url(),
             "--as",    "committed", "--body",         "paid",    "--type", "text/plain", "--ref",
             "tx_1",    "--reason",  "asked the bank", "--actor", "olga",   yes});
    };

    expect_refused(resolve("held", "--json"));
    EXPECT_EQ(resolve("held", "--yes").out, "settled: committed\n");
    EXPECT_EQ(resolve("held", "--yes").exit_code, 1) << "it is not in doubt any more";
    EXPECT_EQ(resolve("running", "--yes").exit_code, 1) << "somebody works on it";
    EXPECT_EQ(resolve("nobody", "--yes").exit_code, 1);

    const json now = shown("held");
    EXPECT_EQ(now["state"], "succeeded");
    EXPECT_EQ(now["result"]["ref"], "tx_1");
    ASSERT_EQ(now["audit"].size(), 1);
    EXPECT_EQ(now["audit"][0]["actor"], "olga");
    EXPECT_EQ(now["audit"][0]["from"], "processing");
}

TEST_F(RecordsCommand, DeletesOnlyIfToldSoAndKeepsTheAudit) {
    expect_refused(run_tool(
        {"records", "delete", "acme", "PAY", "done", "--store", url(), "--reason", "test"}));
    EXPECT_EQ(shown("done")["state"], "succeeded");

    const tool_run gone = run_tool({"records", "delete", "acme", "PAY", "done", "--store", url(),
                                    "--reason", "test", "--yes", "--json"});

    EXPECT_EQ(json::parse(gone.out)["outcome"], "removed");
    const json after = shown("done");
    EXPECT_FALSE(after.contains("state"));
    EXPECT_EQ(after["audit"][0]["act"], "remove");
    EXPECT_EQ(after["audit"][0]["from"], "succeeded");
}

TEST_F(RecordsCommand, RefusesBadInput) {
    expect_refused(run_tool({"records"}));
    expect_refused(run_tool({"records", "list", "--store", url(), "--state", "odd"}));
    expect_refused(run_tool({"records", "list", "--store", url(), "--older", "yesterday"}));
    expect_refused(run_tool({"records", "list", "--store", "oracle:x"}));
    expect_refused(run_tool({"records", "show", "acme", "PAY", "--store", url()}));
    expect_refused(run_tool({"records", "resolve", "acme", "PAY", "held", "--store", url(), "--as",
                             "maybe", "--reason", "r", "--yes"}));
    expect_refused(run_tool({"records", "resolve", "acme", "PAY", "held", "--store", url(), "--as",
                             "failed", "--yes"})); // no reason
}

TEST_F(RecordsCommand, StatsCountByOperationAndState) {
    const tool_run got = run_tool({"stats", "--store", url(), "--json"});

    const json all = json::parse(got.out);
    ASSERT_EQ(all.size(), 1);
    EXPECT_EQ(all[0]["operation"], "PAY");
    EXPECT_EQ(all[0]["processing"], 1);
    EXPECT_EQ(all[0]["stuck"], 1);
    EXPECT_EQ(all[0]["succeeded"], 1);
    EXPECT_GE(all[0]["oldest_stuck_seconds"], 3'500);
    EXPECT_THAT(run_tool({"stats", "--store", url()}).out, HasSubstr("OLDEST STUCK"));
}

TEST_F(RecordsCommand, SweepRemovesWhatHasExpiredAndNothingElse) {
    const tool_run first = run_tool({"sweep", "--store", url(), "--json"});
    const tool_run second = run_tool({"sweep", "--store", url()});

    EXPECT_EQ(json::parse(first.out)["removed"], 1);
    EXPECT_THAT(second.out, HasSubstr("removed 0 records"));
    EXPECT_EQ(shown("held")["state"], "processing");
    expect_refused(run_tool({"sweep", "--store", url(), "--share", "101"}));
}

TEST_F(RecordsCommand, ReconcileLooksOnceAndLeavesWhatNobodyCanAsk) {
    const tool_run got = run_tool({"reconcile", "--store", url(), "--once", "--json"});

    EXPECT_EQ(got.exit_code, 0) << got.err;
    const json did = json::parse(got.out);
    EXPECT_EQ(did["stuck"], 1);
    EXPECT_EQ(did["left"], 1);
    EXPECT_EQ(did["alerted"], 1);
}

} // namespace
} // namespace semel::test::records_cli
