#include "databases/mysql/client/target.hpp"

#include <gtest/gtest.h>

namespace semel::mysql {
namespace {

failure refusal(const mysql_store_options& options) {
    auto made = read_target(options);
    if (made) return {.code = errc::internal, .detail = "accepted"};
    return std::move(made).error();
}

TEST(MysqlTarget, TimeoutsAndPlaceAreTakenOver) {
    const auto made = read_target({.host = "db",
                                   .port = 3307,
                                   .user = "anna",
                                   .password = "secret",
                                   .database = "orders",
                                   .statement_timeout = std::chrono::seconds{3}})
                          .value();

    EXPECT_EQ(made.host, "db");
    EXPECT_EQ(made.port, 3307);
    EXPECT_EQ(made.answer_timeout, std::chrono::seconds{3});
}

TEST(MysqlTarget, CertificatesNeedTls) {
    EXPECT_NE(refusal({.database = "d", .ca_file = "x"}).detail.find("tls=verify"),
              std::string::npos);
}

TEST(MysqlTarget, AFileThatIsNotThereIsNamed) {
    const auto why =
        refusal({.database = "d", .tls = mysql_tls::verify, .ca_file = "/nowhere/ca.crt"});

    EXPECT_EQ(why.code, errc::invalid_argument);
    EXPECT_NE(why.detail.find("/nowhere/ca.crt"), std::string::npos);
}

TEST(MysqlTarget, ACertificateNeedsItsKey) {
    EXPECT_NE(refusal({.database = "d", .tls = mysql_tls::verify, .cert_file = "x"})
                  .detail.find("belong together"),
              std::string::npos);
}

TEST(MysqlTarget, ADatabaseMustBeNamed) {
    EXPECT_EQ(refusal({.user = "anna"}).code, errc::invalid_argument);
}

} // namespace
} // namespace semel::mysql
