#include <gtest/gtest.h>

#include <map>

#include "semel/engine.hpp"
#include "semel/http/key_header.hpp"
#include "semel/store/memory.hpp"

namespace semel::http {
namespace {

TEST(NextHop, GetsAKeyOfItsOwnForEachStep) {
    EXPECT_EQ(next_hop_headers("order-17", "payment"),
              (header_list{{"Idempotency-Key", "order-17:payment"}}));
    EXPECT_NE(next_hop_headers("order-17", "payment"), next_hop_headers("order-17", "mail"));
}

TEST(NextHop, SpellsAKeyAsTheNextServiceWantsIt) {
    const next_hop_options quoted{.header = "X-Key", .form = key_form::strict};
    EXPECT_EQ(next_hop_headers("a b", "c", {}, quoted), (header_list{{"X-Key", "\"a b:c\""}}));
}

TEST(NextHop, PassesTheTraceOnAndNothingElse) {
    const header_list incoming{
        {"Traceparent", "00-1-2-01"}, {"Cookie", "secret"}, {"Idempotency-Key", "theirs"}};
    EXPECT_EQ(next_hop_headers("k", "s", incoming),
              (header_list{{"Idempotency-Key", "k:s"}, {"traceparent", "00-1-2-01"}}));
}

TEST(NextHop, KeepsTheKeyOfAStepWhenTheWorkRunsAgain) {
    engine on{open_memory_store(), {}, {.log = null_logger()}};
    const auto attempt = [&] {
        std::string sent;
        const semel::request what{.tenant = "acme", .operation = "ORDER", .key = "k"};
        (void)on.execute<std::string>(what, [&](execution& run) -> verdict<std::string> {
            sent = *next_hop_headers(run, "payment").find("Idempotency-Key");
            return retry_later_verdict{.error = "not yet"};
        });
        return sent;
    };
    const std::string first = attempt();
    EXPECT_EQ(first, "k:payment");
    EXPECT_EQ(attempt(), first);
}

TEST(NextHop, GoesIntoTheHeadersOfAClient) {
    std::multimap<std::string, std::string> multimap{{"Idempotency-Key", "old"}};
    struct fields {
        std::map<std::string, std::string> all;
        void set(const std::string& name, const std::string& value) { all[name] = value; }
    } like_beast;

    add_to(multimap, next_hop_headers("k", "s"));
    add_to(like_beast, next_hop_headers("k", "s"));

    EXPECT_EQ(multimap.count("Idempotency-Key"), 1U);
    EXPECT_EQ(multimap.find("Idempotency-Key")->second, "k:s");
    EXPECT_EQ(like_beast.all["Idempotency-Key"], "k:s");
}

} // namespace
} // namespace semel::http
