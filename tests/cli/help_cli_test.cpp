// What the tool says about itself, and about words that it does not know.
#include <cctype>
#include <sstream>

#include <gmock/gmock.h>

#include "cli/tool.hpp"

namespace semel::test::help_cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using words = std::vector<std::string>;

struct line {
    std::string name;
    std::string about;
};

struct help_lines {
    std::vector<line> commands;
    std::vector<line> options;
};

bool holds_commands(const std::string& section) {
    return section == "Serve:" || section == "Records:" || section == "Outbox:" ||
           section == "Tools:" || section == "Subcommands:";
}

help_lines lines_of(const std::string& help) {
    std::istringstream in{help};
    help_lines found;
    std::string section;
    for (std::string text; std::getline(in, text);) {
        if (!text.empty() && text.front() != ' ') section = text;
        if (!text.starts_with("  ") || text.starts_with("   ")) continue;
        const std::size_t end = text.find("  ", 2);
        const std::size_t about = text.find_first_not_of(' ', end);
        line one{.name = text.substr(2, end - 2),
                 .about = about == std::string::npos ? "" : text.substr(about)};
        if (one.name.starts_with('-')) {
            found.options.push_back(one);
        } else if (holds_commands(section)) {
            found.commands.push_back(one);
        }
    }
    return found;
}

// The help of a command, and of all below it.
void visit(const words& path, std::vector<std::pair<words, std::string>>& all) {
    words asked = path;
    asked.emplace_back("--help");
    const tool_run got = run_words(asked);
    EXPECT_EQ(got.exit_code, 0) << got.err;
    all.emplace_back(path, got.out);
    for (const line& one : lines_of(got.out).commands) {
        words below = path;
        below.push_back(one.name);
        visit(below, all);
    }
}

std::string joined(const words& of) {
    std::string made = "semel";
    for (const std::string& one : of) made += " " + one;
    return made;
}

TEST(Help, GroupsTheCommandsInTheOrderOfUse) {
    const std::string help = run_words({"--help"}).out;

    const auto serve = help.find("\nServe:\n  serve ");
    const auto records = help.find("\nRecords:\n  records ");
    const auto outbox = help.find("\nOutbox:\n  outbox ");
    const auto tools = help.find("\nTools:\n");
    EXPECT_LT(serve, records);
    EXPECT_LT(records, outbox);
    EXPECT_LT(outbox, tools);
    EXPECT_LT(tools, help.size());
    EXPECT_THAT(help, Not(HasSubstr("Subcommands:")));
}

TEST(Help, EveryCommandIsASentenceAndHasAnExample) {
    std::vector<std::pair<words, std::string>> all;
    visit({}, all);

    EXPECT_GE(all.size(), 30U);
    for (const auto& [path, help] : all) {
        const help_lines lines = lines_of(help);
        for (const line& one : lines.commands) {
            ASSERT_FALSE(one.about.empty()) << joined(path) << " " << one.name;
            EXPECT_NE(std::isupper(one.about.front()), 0) << one.about;
            EXPECT_NE(one.about.back(), '.') << one.about;
        }
        for (const line& one : lines.options) {
            const bool is_capital = one.about.size() > 1 && std::isupper(one.about[0]) != 0 &&
                                    std::isupper(one.about[1]) == 0; // JSON is none
            EXPECT_FALSE(is_capital) << one.about;
        }
        if (!lines.commands.empty()) continue;
        EXPECT_THAT(help, AllOf(HasSubstr("Example:\n"), HasSubstr(joined(path) + " ")));
    }
}

TEST(Words, AMistypedCommandSaysWhatWasMeant) {
    for (const auto& [typed, meant] :
         {std::pair{words{"serv"}, "'semel serve'?"},
          {words{"recods", "list"}, "'semel records'?"},
          {words{"records", "lst"}, "'semel records list'?"},
          {words{"outbox", "requue", "--all"}, "'semel outbox requeue'?"},
          {words{"token", "nwe", "--tenant", "acme"}, "'semel token new'?"},
          {words{"completion", "bsah"}, "'semel completion bash'?"},
          {words{"serv", "--help"}, "'semel serve'?"}}) {
        const tool_run got = run_words(typed);

        expect_refused(got);
        EXPECT_THAT(got.err, HasSubstr(std::string{"did you mean "} + meant)) << joined(typed);
    }
}

TEST(Words, AnUnknownCommandListsThoseThereAre) {
    const tool_run got = run_words({"records", "frobnicate", "--json"});
    const tool_run none = run_words({"records"});
    const tool_run url = run_words({"postgres://app:s3cret@db/shop"});

    expect_refused(got);
    EXPECT_THAT(got.err, AllOf(HasSubstr("there is no command 'semel records frobnicate'"),
                               HasSubstr("list, show, export, resolve, delete")));
    expect_refused(none);
    EXPECT_THAT(none.err, HasSubstr("'semel records' needs a command: list, show"));
    expect_refused(url);
    EXPECT_THAT(url.err, AllOf(HasSubstr("serve, gateway"), Not(HasSubstr("s3cret"))));
}

TEST(Words, AMistypedOptionSaysWhatWasMeant) {
    const tool_run mistyped = run_words({"records", "list", "--confg", "a.toml"});
    const tool_run unknown = run_words({"stats", "--frobnicate=1"});
    const tool_run extra = run_words({"records", "show", "a", "b", "c", "first", "second"});
    const tool_run secret = run_words({"stats", "--stor", "postgres://app:s3cret@db/shop"});

    for (const tool_run& one : {mistyped, unknown, extra, secret}) expect_refused(one);
    EXPECT_THAT(mistyped.err, HasSubstr("'semel records list' has no option --confg; did you mean "
                                        "--config?"));
    EXPECT_THAT(unknown.err, HasSubstr("see 'semel stats --help'"));
    EXPECT_THAT(extra.err, AllOf(HasSubstr("'first'"), Not(HasSubstr("second"))));
    EXPECT_THAT(secret.err, AllOf(HasSubstr("did you mean --store?"), Not(HasSubstr("s3cret"))));
}

TEST(Words, AnOptionWithChoicesNamesThem) {
    const tool_run got = run_words({"records", "list", "--state", "odd"});

    expect_refused(got);
    EXPECT_THAT(got.err, HasSubstr("--state"));
    EXPECT_THAT(got.err,
                HasSubstr("must be one of processing, lapsed, in-doubt, succeeded, failed"));
    EXPECT_THAT(run_words({"records", "list", "--help"}).out,
                HasSubstr("--state processing|lapsed|in-doubt|succeeded|failed"));
}

TEST(Words, ATenantIsOfVisibleAsciiCharacters) {
    const tool_run got = run_words({"token", "new", "--tenant", "\u738b\u5e9c\u4e95"});

    expect_refused(got);
    EXPECT_THAT(got.err, HasSubstr("1 to 64 visible ASCII characters"));
}

} // namespace
} // namespace semel::test::help_cli
