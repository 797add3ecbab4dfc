#include "engine/plan.hpp"

#include <gtest/gtest.h>

#include "semel/fingerprint.hpp"

namespace semel {
namespace {

using namespace std::chrono_literals;

request good() {
    return {.tenant = "acme", .operation = "ORDER_CREATE", .key = "k"};
}

failure refusal(request what, const limits& bounds = {}) {
    auto made = plan_of(std::move(what), {}, bounds);
    EXPECT_FALSE(made.has_value());
    return made ? failure{errc::internal} : made.error();
}

TEST(Plan, PutsPolicyAndOverridesTogether) {
    auto what = good();
    what.with = {.lease = 1s, .wait = wait_mode::answer, .attributes = "{}"};
    const operation_policy policy{.lease = 9s, .retention = 2h, .wait_max = 3s};

    const auto made = plan_of(std::move(what), policy, {}).value();

    EXPECT_EQ(made.lease, 1s);
    EXPECT_EQ(made.retention, 2h);
    EXPECT_EQ(made.wait, wait_mode::answer);
    EXPECT_EQ(made.wait_max, 3s);
    EXPECT_EQ(made.attributes, "{}");
    EXPECT_EQ(made.hash, hash_of(made.id));
}

TEST(Plan, NamesTheFieldThatIsEmpty) {
    auto no_tenant = good();
    no_tenant.tenant.clear();
    auto no_operation = good();
    no_operation.operation.clear();
    auto no_key = good();
    no_key.key.clear();

    EXPECT_EQ(refusal(no_tenant).detail, "tenant must not be empty");
    EXPECT_EQ(refusal(no_operation).detail, "operation must not be empty");
    EXPECT_EQ(refusal(no_key).detail, "key must not be empty");
    EXPECT_EQ(refusal(no_key).code, errc::invalid_argument);
}

TEST(Plan, TakesNamesOfExactlyTheLimitAndRefusesOneByteMore) {
    const limits bounds;
    const auto with = [](std::size_t tenant, std::size_t operation, std::size_t key) {
        return request{.tenant = std::string(tenant, 't'),
                       .operation = std::string(operation, 'o'),
                       .key = std::string(key, 'k')};
    };

    EXPECT_TRUE(plan_of(with(64, 64, 255), {}, bounds));
    EXPECT_EQ(refusal(with(65, 1, 1)).detail, "tenant has 65 bytes; the limit is 64");
    EXPECT_EQ(refusal(with(1, 65, 1)).detail, "operation has 65 bytes; the limit is 64");
    EXPECT_EQ(refusal(with(1, 1, 256)).detail, "key has 256 bytes; the limit is 255");
    EXPECT_EQ(refusal(with(1, 1, 256)).code, errc::limit_exceeded);
}

TEST(Plan, DerivesAnEmptyKeyFromTheContent) {
    auto what = good();
    what.key.clear();
    what.content = fingerprint{{}};

    const auto made = plan_of(std::move(what), {}, {}).value();

    EXPECT_EQ(made.id.key, key_from(fingerprint{{}}));
}

TEST(Plan, R_5_RefusesDurationsThatMakeNoSense) {
    const auto with = [](overrides own) {
        auto what = good();
        what.with = std::move(own);
        return what;
    };

    EXPECT_EQ(refusal(with({.lease = 0s})).detail, "lease must be greater than zero");
    EXPECT_EQ(refusal(with({.lease = -1s})).code, errc::invalid_argument);
    EXPECT_EQ(refusal(with({.lease = duration::max()})).code, errc::limit_exceeded);
    EXPECT_EQ(refusal(with({.retention = 0s})).code, errc::invalid_argument);
    EXPECT_EQ(refusal(with({.retention = duration::min()})).code, errc::invalid_argument);
    EXPECT_EQ(refusal(with({.retention = 24h * 366 * 11})).code, errc::limit_exceeded);
    EXPECT_EQ(refusal(with({.wait_max = -1us})).code, errc::invalid_argument);
}

TEST(Plan, NoTimeToWaitMeansAnAnswerAtOnce) {
    auto what = good();
    what.with.wait_max = 0s;

    EXPECT_EQ(plan_of(std::move(what), {}, {}).value().wait, wait_mode::answer);
}

TEST(Plan, RefusesAttributesOverTheLimit) {
    auto what = good();
    what.with.attributes = std::string(4097, ' ');

    EXPECT_EQ(refusal(what).detail, "attributes have 4097 bytes; the limit is 4096");
}

TEST(Plan, ABeginCarriesWhatTheRecordMustRemember) {
    const operation_policy policy{.on_lease_expiry = lease_expiry::hold,
                                  .mismatch = on_mismatch::overwrite,
                                  .attempts_max = 3,
                                  .grace = 7ms,
                                  .processing_max = 8h};
    const auto made = plan_of(good(), policy, {}).value();

    const auto begun = begin_of(made, {.low = 5});

    EXPECT_EQ(begun.owner.low, 5U);
    EXPECT_EQ(begun.mismatch, on_mismatch::overwrite);
    EXPECT_EQ(begun.policy, (record_policy{.on_lease_expiry = lease_expiry::hold,
                                           .attempts_max = 3,
                                           .grace = 7ms,
                                           .processing_max = 8h}));
}

TEST(PolicyCheck, RefusesEveryBadField) {
    const auto code_of = [](auto change) {
        operation_policy policy;
        change(policy);
        const auto said = check(policy, limits{});
        return said ? errc::internal : said.error().code;
    };

    EXPECT_TRUE(check(operation_policy{}, limits{}));
    EXPECT_EQ(code_of([](auto& p) { p.lease = 0s; }), errc::invalid_argument);
    EXPECT_EQ(code_of([](auto& p) { p.retention = -1s; }), errc::invalid_argument);
    EXPECT_EQ(code_of([](auto& p) { p.failure_retention = 0s; }), errc::invalid_argument);
    EXPECT_EQ(code_of([](auto& p) { p.processing_max = 0s; }), errc::invalid_argument);
    EXPECT_EQ(code_of([](auto& p) { p.wait_max = -1s; }), errc::invalid_argument);
    EXPECT_EQ(code_of([](auto& p) { p.grace = -1s; }), errc::invalid_argument);
    EXPECT_EQ(code_of([](auto& p) { p.lease = duration::max(); }), errc::limit_exceeded);
    EXPECT_EQ(code_of([](auto& p) { p.attempts_max = 0; }), errc::invalid_argument);
    EXPECT_EQ(code_of([](auto& p) { p.result_bytes_max = (1U << 20) + 1; }), errc::limit_exceeded);
}

TEST(PolicyCheck, RefusesABadFailureRule) {
    const auto with = [](auto change) {
        failure_rule rule = when<std::exception>(exception_class::final);
        change(rule);
        return check(operation_policy{.failures = {rule}}, limits{});
    };

    EXPECT_TRUE(with([](auto&) {}));
    EXPECT_FALSE(with([](auto& rule) { rule.matches = nullptr; }));
    EXPECT_FALSE(with([](auto& rule) { rule.retention = -1s; }));
    EXPECT_FALSE(with([](auto& rule) { rule.retry_after = duration::max(); }));
}

TEST(OptionsCheck, RefusesEveryBadField) {
    const auto code_of = [](auto change) {
        engine_options options;
        change(options);
        const auto said = check(options);
        return said ? errc::internal : said.error().code;
    };

    EXPECT_TRUE(check(engine_options{}));
    EXPECT_EQ(code_of([](auto& o) { o.store_patience = -1s; }), errc::invalid_argument);
    EXPECT_EQ(code_of([](auto& o) { o.confirm_max = duration::max(); }), errc::limit_exceeded);
    EXPECT_EQ(code_of([](auto& o) { o.completion_patience = -1s; }), errc::invalid_argument);
    EXPECT_EQ(code_of([](auto& o) { o.drain_max = -1s; }), errc::invalid_argument);
    EXPECT_EQ(code_of([](auto& o) { o.sweep.idle = 0s; }), errc::invalid_argument);
    EXPECT_EQ(code_of([](auto& o) { o.sweep.busy = 0s; }), errc::invalid_argument);
    EXPECT_EQ(code_of([](auto& o) { o.sweep.records_max = 0; }), errc::invalid_argument);
    EXPECT_EQ(code_of([](auto& o) { o.limits.duration_max = duration::max(); }),
              errc::invalid_argument);
}

} // namespace
} // namespace semel
