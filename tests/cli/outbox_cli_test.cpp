#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "cli/tool.hpp"

namespace semel::test {
namespace {

class OutboxCommands : public testing::Test {
protected:
    OutboxCommands() {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
        EXPECT_EQ(run_tool({"migrate", "--store", url()}).exit_code, 0);
        sqlite3* db = nullptr;
        sqlite3_open((folder_ + "/shop.db").c_str(), &db);
        for (int i = 1; i <= 3; ++i) {
            const std::string sql =
                "INSERT INTO semel_outbox (shard_id, status, attempts, event_id, topic, "
                "message_key, headers, trace_context, payload, last_error, created_at, updated_at) "
                "VALUES (0, " +
                std::string{i == 3 ? "2, 20" : "0, 0"} + ", '01ARZ3NDEKTSV4RRFFQ69G5FA" +
                std::to_string(i) +
                "', 'orders', x'61', CAST('a: b' || char(10) AS BLOB), x'', CAST('{\"n\":" +
                std::to_string(i) + "}' AS BLOB), CAST('" + (i == 3 ? "the sink said no" : "") +
                "' AS BLOB), 1700000000000000, 1700000000000000)";
            EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
                << sqlite3_errmsg(db);
        }
        sqlite3_close(db);
    }
    ~OutboxCommands() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string url() const { return "sqlite:" + folder_ + "/shop.db"; }
    nlohmann::json rows() {
        return nlohmann::json::parse(run_tool({"outbox", "list", "--store", url(), "--json"}).out);
    }

    std::string folder_;
};

TEST_F(OutboxCommands, RelayPrintsEventsAndRemovesThem) {
    const tool_run made =
        run_tool({"relay", "--store", url(), "--sink", "stdout:", "--once", "--workers", "1"});

    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_NE(made.out.find("\"id\":\"01ARZ3NDEKTSV4RRFFQ69G5FA1\""), std::string::npos);
    EXPECT_NE(made.out.find("{\\\"n\\\":2}"), std::string::npos) << made.out;
    EXPECT_NE(made.err.find("delivered 2"), std::string::npos) << made.err;
    EXPECT_EQ(rows().size(), 1U) << "the dead letter stays";
}

TEST_F(OutboxCommands, ListAndShowTellWhatIsThere) {
    const tool_run listed = run_tool({"outbox", "list", "--store", url(), "--status", "dead"});
    const tool_run shown = run_tool({"outbox", "show", "--store", url(), "3"});
    const auto as_json =
        nlohmann::json::parse(run_tool({"outbox", "show", "--store", url(), "3", "--json"}).out);

    EXPECT_EQ(listed.exit_code, 0) << listed.err;
    EXPECT_NE(listed.out.find("the sink said no"), std::string::npos) << listed.out;
    EXPECT_EQ(listed.out.find("pending"), std::string::npos) << listed.out;
    EXPECT_NE(shown.out.find("{\"n\":3}"), std::string::npos) << shown.out;
    EXPECT_EQ(as_json["status"], "dead");
    EXPECT_EQ(as_json["created_at"], "2023-11-14T22:13:20Z");
    EXPECT_EQ(as_json["headers"][0][1], "b");
    EXPECT_EQ(run_tool({"outbox", "show", "--store", url(), "99"}).exit_code, 1);
}

TEST_F(OutboxCommands, RequeueAndDropChangeWhatTheyName) {
    expect_refused(run_tool({"outbox", "drop", "--store", url(), "1"}));
    expect_refused(run_tool({"outbox", "requeue", "--store", url(), "--all"}));
    expect_refused(run_tool({"outbox", "requeue", "--store", url()}));
    EXPECT_EQ(rows().size(), 3U) << "nobody said yes";

    EXPECT_EQ(run_tool({"outbox", "drop", "--store", url(), "1", "--yes"}).out, "dropped: 1\n");
    EXPECT_EQ(run_tool({"outbox", "requeue", "--store", url(), "3"}).out, "requeued: 1\n");

    const auto left = rows();
    ASSERT_EQ(left.size(), 2U);
    EXPECT_EQ(left[1]["status"], "pending");
    EXPECT_EQ(left[1]["attempts"], 0);
}

TEST_F(OutboxCommands, RefuseBadInput) {
    expect_refused(run_tool({"relay", "--store", url()}));
    expect_refused(run_tool({"relay", "--store", url(), "--sink", "smoke:signals"}));
    expect_refused(run_tool({"relay", "--store", "memory:", "--sink", "stdout:"}));
    expect_refused(run_tool({"relay", "--store", url(), "--sink", "stdout:", "--mode", "odd"}));
    expect_refused(run_tool({"relay", "--store", url(), "--sink", "stdout:", "--attempts", "1"}));
    expect_refused(run_tool({"outbox", "list", "--store", url(), "--status", "odd"}));
}

} // namespace
} // namespace semel::test
