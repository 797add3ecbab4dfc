#include "net/address.hpp"

#include <gtest/gtest.h>

namespace semel::net::address_test {
namespace {

TEST(Address, HostsAndPorts) {
    EXPECT_EQ(parse_host_port("127.0.0.1:7070").value(), (host_port{"127.0.0.1", 7070}));
    EXPECT_EQ(parse_host_port("[::1]:80").value(), (host_port{"::1", 80}));
    EXPECT_EQ(parse_host_port("[::1]:80").value().text(), "[::1]:80");
    EXPECT_EQ(parse_host_port("shop.internal:0").value().text(), "shop.internal:0");
    for (const char* wrong : {"", ":80", "a", "a:", "a:x", "a:65536", "a:-1", "[::1", "[::1]80",
                              "::1:80", "a b:80", "a/b:80", "[x]:80"}) {
        EXPECT_FALSE(parse_host_port(wrong)) << wrong;
    }
}

TEST(Address, BaseUrls) {
    EXPECT_EQ(parse_base_url("http://127.0.0.1:3000").value(),
              (base_url{.at = {"127.0.0.1", 3000}}));
    EXPECT_EQ(
        parse_base_url("https://shop.internal/base/").value(),
        (base_url{.how = base_url::scheme::https, .at = {"shop.internal", 443}, .path = "/base"}));
    EXPECT_EQ(parse_base_url("http://[::1]/").value(), (base_url{.at = {"::1", 80}}));
    for (const char* wrong : {"", "shop", "ftp://a", "http://", "http://a:0", "http://a:x",
                              "http://u:p@a", "http://a?x", "http://a#x", "http://a/b c"}) {
        EXPECT_FALSE(parse_base_url(wrong)) << wrong;
    }
}

TEST(Address, Networks) {
    const auto holds = [](const char* net, const char* address) {
        return network::parse(net).value().contains(parse_address(address).value());
    };
    EXPECT_TRUE(holds("10.0.0.0/8", "10.255.1.2"));
    EXPECT_FALSE(holds("10.0.0.0/8", "11.0.0.1"));
    EXPECT_TRUE(holds("10.128.0.0/9", "10.200.0.1"));
    EXPECT_FALSE(holds("10.128.0.0/9", "10.1.0.1"));
    EXPECT_TRUE(holds("127.0.0.1", "127.0.0.1"));
    EXPECT_FALSE(holds("127.0.0.1", "127.0.0.2"));
    EXPECT_TRUE(holds("127.0.0.1", "::ffff:127.0.0.1"));
    EXPECT_TRUE(holds("fd00::/8", "fd12::1"));
    EXPECT_FALSE(holds("fd00::/8", "fe80::1"));
    EXPECT_TRUE(holds("0.0.0.0/0", "8.8.8.8"));
    EXPECT_FALSE(holds("0.0.0.0/0", "fd00::1"));
    for (const char* wrong : {"", "x", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "fd00::/129"}) {
        EXPECT_FALSE(network::parse(wrong)) << wrong;
    }
}

} // namespace
} // namespace semel::net::address_test
