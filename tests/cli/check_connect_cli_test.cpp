// `semel check-config --connect` tries what a configuration names, and leaves everything as it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/tool.hpp"
#include "http/support/upstream.hpp"

namespace semel::test::check_connect_cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CheckConnect : public testing::Test {
protected:
    CheckConnect() {
        std::string name = (fs::temp_directory_path() / "semel-connect-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
        fs::permissions(folder_, fs::perms{0755});
    }
    ~CheckConnect() override {
        fs::permissions(folder_, fs::perms{0755});
        fs::remove_all(folder_);
    }

    void write(const std::string& store, const std::string& more = {}) const {
        std::ofstream{folder_ + "/semel.toml"} << "[store]\n"
                                               << store
                                               << "[tenants]\nsource = \"single\"\nname = \"a\"\n"
                                                  "tokens = \"tokens.txt\"\n"
                                                  "[gateway]\nupstream = \"http://127.0.0.1:1\"\n"
                                               << more;
    }
    // A configuration without a fault of its own.
    void make_tokens() const {
        ASSERT_EQ(run_tool({"token", "new", "--tenant", "a", "--tokens", folder_ + "/tokens.txt"})
                      .exit_code,
                  0);
    }
    [[nodiscard]] std::vector<std::string> words() const {
        return {"check-config", "--connect", folder_ + "/semel.toml"};
    }
    [[nodiscard]] std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator{folder_}, fs::directory_iterator{}));
    }

    std::string folder_;
};

TEST_F(CheckConnect, SaysOfEachWhatCameOfItAndMakesNothing) {
    edge::support::upstream hook;
    make_tokens();
    write("url = \"sqlite:a.db\"\n", "[[relay]]\nsink = \"file:events.jsonl\"\n"
                                     "[[relay]]\nsink = \"http://127.0.0.1:" +
                                         std::to_string(hook.port()) + "/hook\"\n");

    const tool_run run = run_words(words());

    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    EXPECT_THAT(run.out,
                AllOf(HasSubstr("ok      store.url sqlite:" + folder_ + "/a.db: "),
                      HasSubstr("ok      tenants.tokens " + folder_ + "/tokens.txt: 1 token\n"),
                      HasSubstr("ok      relay[1].store "),
                      HasSubstr("ok      relay[1].sink file:" + folder_),
                      HasSubstr("ok      relay[2].sink http://127.0.0.1:")));
    EXPECT_EQ(files(), 2U); // the configuration and the tokens
    EXPECT_EQ(hook.requests(), 0);
    EXPECT_EQ(hook.connections(), 1);
}

TEST_F(CheckConnect, AStoreThatIsThereIsOnlyRead) {
    make_tokens();
    write("url = \"sqlite:a.db\"\n", "[[relay]]\nsink = \"stdout:\"\n");
    ASSERT_EQ(run_tool({"migrate", "--store", "sqlite:" + folder_ + "/a.db"}).exit_code, 0);
    const std::size_t before = files();

    const tool_run run = run_words(words());

    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    EXPECT_THAT(run.out,
                AllOf(HasSubstr("ok      store.url sqlite:" + folder_ + "/a.db\n"),
                      HasSubstr("relay[1].store sqlite:" + folder_ + "/a.db: 0 events in it\n")));
    EXPECT_EQ(files(), before);
}

TEST_F(CheckConnect, OneThatFailsIsNamedAndTheOthersAreTried) {
    make_tokens();
    std::ofstream{folder_ + "/junk.db"} << "this is no database, and never was one";
    write("url = \"sqlite:junk.db\"\nfront = \"redis://:s3cret@127.0.0.1:1/0\"\n",
          "[[relay]]\nstore = \"sqlite:none.db\"\nsink = \"redis://127.0.0.1:1/0\"\n"
          "[[relay]]\nstore = \"mysql://u:s3cret@127.0.0.1:1/d\"\nsink = \"nats://127.0.0.1:1\"\n"
          "[[relay]]\nstore = \"postgres://u:s3cret@127.0.0.1:1/d\"\nsink = "
          "\"http://127.0.0.1:1/\"\n"
          "[[relay]]\nstore = \"sqlite:none.db\"\nsink = \"file:none/events.jsonl\"\n");

    const tool_run run = run_words(words());

    EXPECT_EQ(run.exit_code, 1) << run.err;
    for (const char* one : {"failed  store.url sqlite:", "failed  store.front redis://",
                            "ok      tenants.tokens", "failed  relay[1].store sqlite:",
                            "failed  relay[1].sink redis:", "failed  relay[2].store mysql:",
                            "failed  relay[2].sink nats:", "failed  relay[3].store postgres:",
                            "failed  relay[3].sink http:", "failed  relay[4].sink file:"}) {
        EXPECT_THAT(run.out, HasSubstr(one));
    }
    EXPECT_THAT(run.out + run.err, Not(HasSubstr("s3cret")));
    EXPECT_EQ(files(), 3U);
}

TEST_F(CheckConnect, AFolderThatTakesNoFileIsNoPlaceForAStore) {
    make_tokens();
    fs::permissions(folder_ + "/tokens.txt", fs::perms{0644});
    write("url = \"sqlite:a.db\"\n", "[[relay]]\nsink = \"file:events.jsonl\"\n");

    const tool_run run = run_as_another(words());

    EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("failed  store.url"), HasSubstr("read_only"),
                               HasSubstr("failed  relay[1].sink")));
}

TEST_F(CheckConnect, NothingIsTriedOfWhatIsWrong) {
    write("url = \"sqlit:a.db\"\n");

    const tool_run run = run_words(words());

    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
}

} // namespace
} // namespace semel::test::check_connect_cli
