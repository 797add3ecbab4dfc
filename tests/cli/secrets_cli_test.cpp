// URLs with passwords: where they may come from, and where they must not go.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "cli/tool.hpp"

namespace semel::test {
namespace {

class Secrets : public testing::Test {
protected:
    Secrets() {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~Secrets() override {
        ::unsetenv("SEMEL_TEST_STORE");
        std::filesystem::remove_all(folder_);
    }

    [[nodiscard]] std::string url() const { return "sqlite:" + folder_ + "/orders.db"; }
    std::string file(const std::string& name, const std::string& text) const {
        std::ofstream{folder_ + "/" + name} << text;
        return folder_ + "/" + name;
    }

    std::string folder_;
};

TEST_F(Secrets, AUrlMayComeFromAFileOrAVariable) {
    ::setenv("SEMEL_TEST_STORE", url().c_str(), 1);
    const std::string from_file = "file:" + file("store", url() + "\n");

    EXPECT_EQ(run_tool({"migrate", "--store", from_file}).exit_code, 0);
    EXPECT_EQ(run_tool({"migrate", "--store", "env:SEMEL_TEST_STORE"}).out,
              "up to date: version 4\n");
    for (const char* what : {"records", "outbox"}) {
        EXPECT_EQ(run_tool({what, "list", "--store", "env:SEMEL_TEST_STORE"}).exit_code, 0);
        EXPECT_EQ(run_tool({what, "list", "--store", from_file}).exit_code, 0);
    }
    ::setenv("SEMEL_TEST_SINK", ("file:" + folder_ + "/events").c_str(), 1);
    EXPECT_EQ(run_tool({"relay", "--once", "--store", from_file, "--sink", "env:SEMEL_TEST_SINK"})
                  .exit_code,
              0);
    ::unsetenv("SEMEL_TEST_SINK");
}

TEST_F(Secrets, AReferenceThatLeadsNowhereIsNamed) {
    const tool_run no_variable = run_tool({"migrate", "--store", "env:SEMEL_TEST_NONE"});
    const tool_run no_file = run_tool({"migrate", "--store", "file:" + folder_ + "/none"});
    const tool_run empty = run_tool({"migrate", "--store", "file:" + file("empty", "")});

    for (const auto& one : {no_variable, no_file, empty}) expect_refused(one);
    EXPECT_NE(no_variable.err.find("SEMEL_TEST_NONE is not set"), std::string::npos);
    EXPECT_NE(no_file.err.find("none: No such file"), std::string::npos);
}

// One that every parser takes: the last @ counts. Port 1 answers nothing.
TEST_F(Secrets, NoErrorRepeatsAPassword) {
    for (const std::string scheme : {"redis", "mysql", "postgres", "nats", "amqp", "http"}) {
        for (const std::string end : {"@127.0.0.1:1/0", "@127.0.0.1:1/0?Vlanes=Z", "@127.0.0.1:V/0",
                                      "@127.0.0.1:1/d?lanes=0"}) {
            const std::string given = scheme + "://u:V/V@Z&?:Z#" + end;
            const std::string coded = scheme + "://u:V%2FV%40Z" + end;
            for (const std::string& url : {given, coded, scheme + "://u:V%2FV%40:Z"}) {
                const tool_run records = run_tool({"records", "list", "--store", url});
                const tool_run relay =
                    run_tool({"relay", "--once", "--store", "memory:", "--sink", url});

                EXPECT_NE(records.exit_code, 0);
                EXPECT_EQ(records.err.find_first_of("VZ"), std::string::npos) << records.err;
                EXPECT_EQ(relay.err.find_first_of("VZ"), std::string::npos) << relay.err;
            }
        }
    }
}

TEST_F(Secrets, TheEffectiveConfigurationHidesWhatIsWrittenInTheFile) {
    const std::string config = file("semel.toml", R"([store]
url = "mysql://app:pX/Q&Z@db/orders"
front = "redis://:XbC/dEf+Q=@cache/0"
[alerts]
webhook = "https://hooks.example/services/T0/XQZ"
[tenants]
source = "single"
name = "a"
[[relay]]
sink = "nats://u:X/Q@host:4222"
[gateway]
upstream = "http://127.0.0.1:1"
)");

    const tool_run shown = run_tool({"check-config", config});

    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_EQ(shown.out.find("XQZ"), std::string::npos) << shown.out;
    for (const char* part : {"pX", "bC", "Ef+", "X/Q", "T0"}) {
        EXPECT_EQ(shown.out.find(part), std::string::npos) << part << " in " << shown.out;
    }
}

} // namespace
} // namespace semel::test
