#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/tool.hpp"

namespace semel::test {
namespace {

TEST(DemoCommand, ShowsOneEffectPerKeyBesideANaiveServiceThatActsTwice) {
    const tool_run run = run_tool({"demo", "--json"});
    const auto told = nlohmann::json::parse(run.out, nullptr, false);

    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    ASSERT_FALSE(told.is_discarded()) << run.out;
    EXPECT_TRUE(told["one_effect_per_key"].get<bool>());
    std::size_t naive_effects = 0;
    for (const auto& scene : told["scenes"]) {
        EXPECT_EQ(scene["semel_effects"], 1) << scene;
        EXPECT_TRUE(scene["ok"].get<bool>()) << scene;
        naive_effects += scene["naive_effects"].get<std::size_t>();
    }
    EXPECT_GT(naive_effects, told["scenes"].size());
}

TEST(DemoCommand, KeepsItsFilesWhereItIsTold) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("semel-demo-test-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);

    const tool_run run = run_tool({"demo", "--dir", folder.string()});
    const tool_run again = run_tool({"demo", "--dir", folder.string()});

    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    EXPECT_NE(run.out.find("one effect per key: yes\n"), std::string::npos) << run.out;
    EXPECT_TRUE(std::filesystem::exists(folder / "shop.db"));
    expect_refused(again); // earlier orders would be counted too
    std::filesystem::remove_all(folder);
}

TEST(DemoCommand, RefusesAFolderItCannotMake) {
    expect_refused(run_tool({"demo", "--dir", "/dev/null/demo"}));
}

} // namespace
} // namespace semel::test
