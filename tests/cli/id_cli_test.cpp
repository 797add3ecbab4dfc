#include <gtest/gtest.h>

#include "cli/tool.hpp"

namespace semel::test {
namespace {

std::string without_line_end(std::string text) {
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

TEST(IdCommand, MakesATypedIdThatItCanShow) {
    const tool_run made = run_tool({"id", "new", "order"});
    const tool_run shown = run_tool({"id", "show", without_line_end(made.out)});

    EXPECT_EQ(made.exit_code, 0);
    EXPECT_EQ(made.out.size(), std::string{"order_"}.size() + 26 + 1);
    EXPECT_EQ(shown.exit_code, 0);
    EXPECT_NE(shown.out.find("prefix    order\n"), std::string::npos) << shown.out;
    EXPECT_NE(shown.out.find("id        " + made.out), std::string::npos) << shown.out;
    EXPECT_NE(shown.out.find("version   7\n"), std::string::npos) << shown.out;
    EXPECT_NE(shown.out.find("time      2"), std::string::npos) << shown.out;
}

TEST(IdCommand, MakesADifferentIdEachTime) {
    EXPECT_NE(run_tool({"id", "new", "order"}).out, run_tool({"id", "new", "order"}).out);
}

TEST(IdCommand, MakesAUlidWithoutAPrefix) {
    const tool_run made = run_tool({"id", "new"});

    EXPECT_EQ(made.exit_code, 0);
    EXPECT_EQ(made.out.size(), 26U + 1U);
    EXPECT_EQ(run_tool({"id", "show", without_line_end(made.out)}).exit_code, 0);
}

TEST(IdCommand, ShowsWhatAUlidIsMadeOf) {
    EXPECT_EQ(run_tool({"id", "show", "01arz3ndektsv4rrffq69g5fav"}).out,
              "kind      ulid\n"
              "id        01ARZ3NDEKTSV4RRFFQ69G5FAV\n"
              "uuid      01563e3a-b5d3-d676-4c61-efb99302bd5b\n"
              "hex       01563e3ab5d3d6764c61efb99302bd5b\n"
              "time      2016-07-30T23:54:10.259Z\n");
}

TEST(IdCommand, ShowsNoTimeWhereTheIdHasNone) {
    EXPECT_EQ(run_tool({"id", "show", "order_00000000000000000000000001"}).out,
              "kind      typeid\n"
              "prefix    order\n"
              "id        order_00000000000000000000000001\n"
              "uuid      00000000-0000-0000-0000-000000000001\n"
              "hex       00000000000000000000000000000001\n"
              "version   0\n");
}

TEST(IdCommand, RefusesBadInput) {
    expect_refused(run_tool({"id"}));
    expect_refused(run_tool({"id", "new", "Order"}));
    expect_refused(run_tool({"id", "new", "order", "extra"}));
    expect_refused(run_tool({"id", "show"}));
    expect_refused(run_tool({"id", "show", ""}));
    expect_refused(run_tool({"id", "show", "xyz"}));
    expect_refused(run_tool({"id", "show", "order_xyz"}));
    expect_refused(run_tool({"id", "show", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ"}));
    expect_refused(run_tool({"id", "show", "order_01H455VB4PEX5VSKNK084SN02Q"}));
}

} // namespace
} // namespace semel::test
