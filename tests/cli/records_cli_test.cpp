// `semel records`, `semel stats`, `semel sweep`: what operators do, on a store with some of each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

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
        const auto store = open_store(url()).value();
        const time_point now = ask(*store, "none", commands::lookup{}).now;
        const claim done = begin(*store, "done", lease_expiry::retry, now, 1min);
        stored_result paid{.body = "paid", .type = "text/plain", .ref = "tx_9"};
        seal(paid);
        ask(*store, "done", commands::complete{.by = done, .result = paid, .retention = 1h});
        begin(*store, "running", lease_expiry::retry, now, 1h);
        begin(*store, "held", lease_expiry::hold, now - 1h, 1s);
        begin(*store, "late", lease_expiry::retry, now - 10min, 1s);
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

    for (const std::string_view state : {"lapsed", "in-doubt"}) {
        const tool_run got = run_tool({"records", "list", "--store", url(), "--state", state});
        EXPECT_THAT(got.out, AllOf(HasSubstr("held"), Not(HasSubstr("done"))));
        EXPECT_EQ(got.out.find("late") != std::string::npos, state == "lapsed") << got.out;
    }
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

TEST_F(RecordsCommand, ShowsJsonAsItIsOverLinesOfItsOwn) {
    const tool_run settled =
        run_tool({"records", "resolve", "acme", "PAY", "held", "--store", url(), "--as",
                  "committed", "--status", "201", "--body",
                  "{\"id\":12345678901234567890,\"path\":\"c:\\\\x\"}", "--reason", "r", "--yes"});
    EXPECT_EQ(settled.exit_code, 0) << settled.err;

    const tool_run got = run_tool({"records", "show", "acme", "PAY", "held", "--store", url()});

    EXPECT_THAT(got.out, HasSubstr("result.body\n{\n  \"id\": 12345678901234567890,\n"
                                   "  \"path\": \"c:\\\\x\"\n}\n"));
    EXPECT_THAT(got.out, AllOf(HasSubstr("result.status"), HasSubstr("result.headers.Content-Type"),
                               Not(HasSubstr("x5c"))));
}

TEST_F(RecordsCommand, ShowsNothingThatSteersTheTerminal) {
    const tool_run settled =
        run_tool({"records", "resolve", "acme", "PAY", "held", "--store", url(), "--as",
                  "committed", "--kind", "value", "--type", "text/plain", "--body", "\x1b[2Jgone",
                  "--reason", "r", "--yes"});
    EXPECT_EQ(settled.exit_code, 0) << settled.err;

    const tool_run got = run_tool({"records", "show", "acme", "PAY", "held", "--store", url()});

    EXPECT_THAT(got.out, AllOf(HasSubstr("\\x1b[2Jgone"), Not(HasSubstr("\x1b"))));
}

TEST_F(RecordsCommand, ExportsEverythingALineEach) {
    const std::string file = folder_ + "/all.jsonl";
    const tool_run got =
        run_tool({"records", "export", "--store", url(), "--out", file, "--results"});

    EXPECT_EQ(got.exit_code, 0) << got.err;
    EXPECT_EQ(got.err, "4 records\n") << "and no bar: this is no terminal";
    std::ifstream lines{file};
    std::map<std::string, json> all;
    for (std::string line; std::getline(lines, line);) {
        json one = json::parse(line);
        all.emplace(one["key"], one);
    }
    EXPECT_EQ(all.size(), 4);
    EXPECT_EQ(all["done"]["result"]["body"], "paid");
}

TEST_F(RecordsCommand, ResolvesWhatIsInDoubtOnceAndOnlyIfToldSo) {
    const auto resolve = [&](std::string_view key, std::string_view yes) {
        return run_tool(
            {"records", "resolve",   "acme",           "PAY",     key,      "--store",    url(),
             "--as",    "committed", "--body",         "paid",    "--type", "text/plain", "--ref",
             "tx_1",    "--reason",  "asked the bank", "--actor", "olga",   "--kind",     "value",
             yes});
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

// Of `held`; more words behind it.
std::vector<std::string> committed(const std::vector<std::string>& store,
                                   const std::vector<std::string>& more) {
    std::vector<std::string> words{"records", "resolve",   "acme",     "PAY", "held",
                                   "--as",    "committed", "--reason", "r",   "--yes"};
    words.insert(words.end(), store.begin(), store.end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

TEST_F(RecordsCommand, ResolveWantsToKnowWhatClientsReadWhereNoConfigurationSaysIt) {
    const std::vector<std::string> store{"--store", url()};
    const tool_run got = run_words(committed(store, {"--body", "{\"id\": 9}"}));

    expect_refused(got);
    EXPECT_THAT(got.err, AllOf(HasSubstr("--status"), HasSubstr("--kind"), HasSubstr("PAY")));
    EXPECT_EQ(shown("held")["state"], "processing");
    EXPECT_EQ(
        run_words(committed(store, {"--body", "{\"id\": 9}", "--kind", "rejection"})).exit_code, 0);
    EXPECT_EQ(shown("held")["result"]["kind"], "rejection");
}

TEST_F(RecordsCommand, ResolveRefusesWhatClientsOfAGatewayRouteCannotRead) {
    const std::string file = folder_ + "/semel.toml";
    std::ofstream{file} << "[store]\nurl = \"" << url() << "\"\n"
                        << "[gateway]\nupstream = \"http://127.0.0.1:1\"\n"
                        << "[tenants]\nsource = \"single\"\nname = \"acme\"\n"
                        << "[[route]]\noperation = \"PAY\"\npath = \"/payments\"\n"
                        << "retention = \"72h\"\n";
    const std::vector<std::string> store{"--config", file};

    const tool_run plain = run_words(committed(store, {"--body", "{\"id\":9}"}));
    const tool_run kind = run_words(committed(store, {"--body", "{\"id\":9}", "--kind", "value"}));
    expect_refused(plain);
    expect_refused(kind);
    EXPECT_THAT(plain.err, HasSubstr("clients of this operation speak HTTP"));
    EXPECT_EQ(shown("held")["state"], "processing");

    const tool_run fine = run_words(committed(store, {"--body", "{\"id\":9}", "--status", "201"}));
    EXPECT_EQ(fine.exit_code, 0) << fine.err;
    EXPECT_EQ(shown("held")["result"]["status"], 201);
    EXPECT_EQ(shown("held")["result"]["headers"]["Content-Type"], "application/json");
}

TEST_F(RecordsCommand, ResolveKnowsAnOperationOfTheCenter) {
    const std::string file = folder_ + "/semel.toml";
    std::ofstream{file} << "[store]\nurl = \"" << url() << "\"\n"
                        << "[center]\nenabled = true\n[tenants]\nsource = \"tokens\"\n"
                        << "tokens = \"tokens.txt\"\n"
                        << "[[operation]]\nname = \"PAY\"\n";
    const std::vector<std::string> store{"--config", file};

    const tool_run answer = run_words(committed(store, {"--status", "201"}));
    const tool_run fine = run_words(committed(store, {"--body", "{\"id\":9}"}));

    expect_refused(answer);
    EXPECT_THAT(answer.err, HasSubstr("no gateway route"));
    EXPECT_EQ(fine.exit_code, 0) << fine.err;
}

TEST_F(RecordsCommand, ResolveRefusesABodyThatIsNotTheJsonItSays) {
    const std::vector<std::string> store{"--store", url()};
    const auto broken = [&](const std::vector<std::string>& how) {
        std::vector<std::string> more{"--body", "{\"id\": 9"};
        more.insert(more.end(), how.begin(), how.end());
        return run_words(committed(store, more));
    };

    for (const tool_run& one :
         {broken({"--kind", "value"}), broken({"--status", "201"}),
          broken({"--status", "422", "--type", "application/problem+json; charset=utf-8"})}) {
        expect_refused(one);
        EXPECT_THAT(one.err, HasSubstr("--body is not the JSON that its type promises"));
    }
    EXPECT_EQ(shown("held")["state"], "processing");
    EXPECT_EQ(broken({"--kind", "value", "--type", "text/plain"}).exit_code, 0);
}

TEST_F(RecordsCommand, ResolveRefusesWhatTheConsoleRefuses) {
    const std::vector<std::string> store{"--store", url()};

    expect_refused(run_words(committed(store, {"--status", "201", "--type", "a\nb"})));
    expect_refused(
        run_words(committed(store, {"--kind", "value", "--ref", std::string(256, 'r')})));
    expect_refused(
        run_words(committed(store, {"--kind", "value", "--type", std::string(256, 't')})));
    expect_refused(run_words({"records", "resolve", "acme", "PAY", "held", "--store", url(), "--as",
                              "not-executed", "--reason", std::string(1'001, 'r'), "--yes"}));
    expect_refused(run_words({"records", "resolve", "acme", "PAY", "held", "--store", url(), "--as",
                              "not-executed", "--reason", "", "--yes"}));
    expect_refused(
        run_words({"records", "resolve", "acme", "PAY", "held", "--store", url(), "--as", "failed",
                   "--error", std::string(4'097, 'e'), "--reason", "r", "--yes"}));
    EXPECT_EQ(shown("held")["state"], "processing");
}

TEST_F(RecordsCommand, ChangesAVerdictOnlyWhereThatIsMeant) {
    const auto resolve = [&](std::string key, std::vector<std::string> more) {
        std::vector<std::string> words{"records", "resolve", "acme",     "PAY", std::move(key),
                                       "--store", url(),     "--reason", "r",   "--yes"};
        words.insert(words.end(), more.begin(), more.end());
        return run_words(words);
    };
    EXPECT_EQ(resolve("held", {"--as", "failed", "--correct"}).exit_code, 1) << "none to correct";
    EXPECT_EQ(resolve("held", {"--as", "failed", "--error", "refused"}).exit_code, 0);

    const tool_run again = resolve("held", {"--as", "not-executed"});
    const tool_run corrected = resolve("held", {"--as", "committed", "--kind", "value", "--body",
                                                "paid", "--type", "text/plain", "--correct"});

    EXPECT_EQ(again.exit_code, 1);
    EXPECT_THAT(again.err, HasSubstr("--correct"));
    EXPECT_EQ(corrected.out, "corrected: committed\n") << corrected.err;
    const json now = shown("held");
    EXPECT_EQ(now["result"]["body"], "paid");
    EXPECT_FALSE(now.contains("error"));
    EXPECT_EQ(now["audit"][1]["act"], "correct: committed");
    const tool_run done = resolve("done", {"--as", "failed", "--correct"});
    EXPECT_EQ(done.exit_code, 1) << "its own attempt has ended it";
    EXPECT_EQ(shown("done")["state"], "succeeded");
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
    EXPECT_EQ(all[0]["lapsed"], 2);
    EXPECT_EQ(all[0]["in_doubt"], 1);
    EXPECT_EQ(all[0]["succeeded"], 1);
    EXPECT_GE(all[0]["oldest_lapsed_seconds"], 3'500);
    EXPECT_THAT(run_tool({"stats", "--store", url()}).out, HasSubstr("OLDEST LAPSED"));
}

TEST_F(RecordsCommand, ClaimsOfTheReconcilerAreNotChanged) {
    const auto act = [&](std::string_view what, std::string_view more, std::string_view value) {
        return run_tool({"records", what, "--store", url(), "semel", "reconcile", "ask/1",
                         "--reason", "no", "--yes", more, value});
    };
    for (const tool_run& run :
         {act("resolve", "--as", "not-executed"), act("delete", "--actor", "me")}) {
        expect_refused(run);
        EXPECT_THAT(run.err, HasSubstr("claim of the reconciler's own"));
    }
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
    EXPECT_THAT(run_tool({"reconcile", "--store", url(), "--once"}).out,
                HasSubstr("2 stuck (lapsed for longer than alert_after)"));
    const tool_run got = run_tool({"reconcile", "--store", url(), "--once", "--json"});

    EXPECT_EQ(got.exit_code, 0) << got.err;
    const json did = json::parse(got.out);
    EXPECT_EQ(did["stuck"], 2);
    EXPECT_EQ(did["left"], 2);
    EXPECT_EQ(did["alerted"], 0) << "told of by the pass before";
}

} // namespace
} // namespace semel::test::records_cli
