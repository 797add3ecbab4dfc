#include "net/socket.hpp"

#include <gmock/gmock.h>

#include <cerrno>

namespace semel::net {
namespace {

using testing::HasSubstr;

TEST(Socket, SystemErrorsAreTimeoutsOrUnavailability) {
    EXPECT_EQ(system_failure("connect", ECONNREFUSED).code, errc::unavailable);
    EXPECT_EQ(system_failure("receive", ECONNRESET).code, errc::unavailable);
    EXPECT_EQ(system_failure("connect", ETIMEDOUT).code, errc::timed_out);
    EXPECT_EQ(system_failure("receive", ECONNRESET).possible, effect::none);
    EXPECT_THAT(system_failure("receive", ECONNRESET).detail, HasSubstr("reset by peer"));
}

} // namespace
} // namespace semel::net
