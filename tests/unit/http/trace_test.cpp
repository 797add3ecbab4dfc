#include "semel/http/message.hpp"

#include <gtest/gtest.h>

namespace semel::http {
namespace {

constexpr const char* trace = "0af7651916cd43dd8448eb211c80319c";

std::string trace_in(const std::string& parent) {
    const header_list headers{{"Traceparent", parent}};
    return std::string{trace_of(headers)};
}

TEST(Trace, IsTheSecondPartOfTraceparent) {
    const std::string rest = std::string{trace} + "-b7ad6b7169203331-01";

    EXPECT_EQ(trace_in("00-" + rest), trace);
    EXPECT_EQ(trace_in("cc-" + rest + "-what-a-later-version-says"), trace);
    EXPECT_EQ(trace_of(header_list{}), "");
}

TEST(Trace, IsNoneWhereTheHeaderIsMalformed) {
    const std::string good = "00-" + std::string{trace} + "-b7ad6b7169203331-01";
    for (const std::string& bad :
         {std::string{}, std::string{"00"}, good.substr(0, 54), good + "-more",
          "ff" + good.substr(2), "0x" + good.substr(2),
          std::string{"00-00000000000000000000000000000000-"} + good.substr(36),
          good.substr(0, 36) + "0000000000000000-01", "00_" + good.substr(3),
          good.substr(0, 53) + "zz"}) {
        EXPECT_EQ(trace_in(bad), "") << bad;
    }
    std::string capitals = good;
    capitals[4] = 'A';
    EXPECT_EQ(trace_in(capitals), "");
}

TEST(Trace, IsNoneWhereTheHeaderComesTwice) {
    const std::string good = "00-" + std::string{trace} + "-b7ad6b7169203331-01";

    EXPECT_EQ(trace_of(header_list{{"traceparent", good}, {"Traceparent", good}}), "");
}

} // namespace
} // namespace semel::http
