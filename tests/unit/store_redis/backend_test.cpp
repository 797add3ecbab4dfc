// Batches against a scripted server: what is asked, what the answers mean, and what is in doubt.
#include "databases/redis/store/backend.hpp"

#include <gmock/gmock.h>

#include "databases/redis/store/record_codec.hpp"
#include "scripted_transport.hpp"

namespace semel::redis {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr time_point noon{hours{24 * 20'000 + 12}};
constexpr claim mine{.fence = 7, .owner = {.high = 1, .low = 2}};

std::string at_noon() {
    return ":" + std::to_string(noon.time_since_epoch().count()) + "\r\n";
}

std::string handed_back(const std::string& stored) {
    return "*2\r\n" + at_noon() + bulk(stored);
}

// What TIME says.
std::string noon_told() {
    const auto seconds = noon.time_since_epoch().count() / 1'000'000;
    return "*2\r\n" + bulk(std::to_string(seconds)) + bulk("0");
}

std::string looked(const std::string& stored) {
    return noon_told() + bulk(stored);
}

commands::begin begin_of() {
    return {.owner = {.high = 1, .low = 2}, .lease = seconds{30}};
}

record running() {
    record it;
    it.holder = mine;
    it.attempts = 1;
    it.begun_at = noon - seconds{10};
    it.lease_until = noon + seconds{20};
    return it;
}

record finished() {
    record it = running();
    it.state = record_state::succeeded;
    it.result.body = "once";
    it.expires_at = noon + hours{1};
    return it;
}

class RedisBackend : public testing::Test {
protected:
    [[nodiscard]] backend fresh_backend() {
        auto on = std::make_shared<shared_link>(
            link_options{.connect = server_.maker(), .counters = &counters_});
        return {std::move(on), setting_, &counters_};
    }

    // Runs the commands as one batch, each on a record of its own.
    static std::vector<job> run_on(backend& tested, std::vector<command> commands) {
        std::vector<job> jobs;
        for (auto& one : commands) {
            record_id id{"t", "o", std::to_string(jobs.size())};
            const auto hash = hash_of(id);
            jobs.push_back({.id = std::move(id), .what = std::move(one), .hash = hash});
        }
        std::vector<job*> batch;
        for (auto& one : jobs) batch.push_back(&one);
        tested.execute(batch);
        return jobs;
    }
    std::vector<job> run(std::vector<command> commands) {
        backend tested = fresh_backend();
        return run_on(tested, std::move(commands));
    }

    template <class Answer> static const Answer& said(const job& one) {
        return std::get<Answer>(one.answer->value().said);
    }
    static failure why(const job& one) {
        return *one.answer ? failure{.code = errc::internal, .detail = "it was answered"}
                           : one.answer->error();
    }

    scripted_server server_;
    store_counters counters_;
    const task_setting setting_{.prefix = "p:"};
};

TEST_F(RedisBackend, ABatchIsOneRoundTrip) {
    const auto seen =
        server_.connection({.answers = std::string{hello} + at_noon() + at_noon() + at_noon()});

    const auto done = run({begin_of(), begin_of(), commands::complete{.retention = hours{1}}});

    EXPECT_EQ(said<answers::started>(done[0]).by.fence,
              static_cast<std::uint64_t>(noon.time_since_epoch().count()));
    EXPECT_EQ(said<answers::started>(done[1]).lease_until, noon + seconds{30});
    EXPECT_EQ(said<answers::stored>(done[2]).expires_at, noon + hours{1});
    EXPECT_EQ(counters_.round_trips.get(), 2U) << "one of them for the connection";
    EXPECT_EQ(counters_.record_writes.get(), 3U);
    EXPECT_THAT(seen->sent, HasSubstr(text_of(script::begin).sha1));
    EXPECT_THAT(seen->sent, Not(HasSubstr("EVAL\r\n")));
}

TEST_F(RedisBackend, ReplayIsOneRoundTripAndWritesNothing) {
    server_.connection({.answers = std::string{hello} + handed_back(encode(finished(), 2))});

    const auto done = run({begin_of()});

    EXPECT_EQ(said<answers::replay>(done[0]).result.body, "once");
    EXPECT_EQ(counters_.round_trips.get(), 2U);
    EXPECT_EQ(counters_.record_writes.get(), 0U);
}

TEST_F(RedisBackend, OnlyWhatMetAnUnknownScriptIsSentAgainInFull) {
    const auto seen = server_.connection({.answers = std::string{hello} + at_noon() +
                                                     "-NOSCRIPT No matching script.\r\n" +
                                                     at_noon() + at_noon()});

    const auto done = run({begin_of(), begin_of(), begin_of()});

    for (const auto& one : done) EXPECT_TRUE(*one.answer) << describe(why(one));
    const std::size_t full = seen->sent.find("EVAL\r\n");
    ASSERT_NE(full, std::string::npos);
    EXPECT_EQ(seen->sent.find("EVAL\r\n", full + 1), std::string::npos);
    EXPECT_THAT(seen->sent, HasSubstr(text_of(script::begin).text));
}

TEST_F(RedisBackend, AServerThatForgetsEveryScriptIsUnavailable) {
    server_.connection({.answers = std::string{hello} + "-NOSCRIPT no\r\n-NOSCRIPT no\r\n"});

    const auto done = run({begin_of()});

    EXPECT_EQ(why(done[0]).code, errc::unavailable);
    EXPECT_EQ(why(done[0]).possible, effect::none);
}

TEST_F(RedisBackend, WhatTheMachineChangesIsWrittenIfNobodyElseHas) {
    const std::string stored = encode(running(), 5);
    const auto seen =
        server_.connection({.answers = std::string{hello} + looked(stored) + at_noon()});

    const auto done = run({commands::abandon{.by = mine}});

    EXPECT_TRUE(std::holds_alternative<answers::stored>(done[0].answer->value().said));
    EXPECT_THAT(seen->sent, HasSubstr(text_of(script::swap).sha1));
    EXPECT_THAT(seen->sent, HasSubstr(bulk(stored.substr(0, stamp_bytes))));
    EXPECT_EQ(counters_.record_writes.get(), 1U);
}

TEST_F(RedisBackend, ALostRaceIsJudgedAgain) {
    server_.connection({.answers = std::string{hello} + looked(encode(running(), 5)) +
                                   handed_back(encode(finished(), 6))});

    const auto done = run({commands::release{.by = mine}});

    const auto& fenced = said<answers::fenced_off>(done[0]);
    ASSERT_TRUE(fenced.current);
    EXPECT_EQ(fenced.current->result.body, "once");
    EXPECT_EQ(counters_.record_writes.get(), 0U);
}

TEST_F(RedisBackend, ARaceThatIsAlwaysLostEndsInAConflict) {
    std::string answers = std::string{hello} + looked(encode(running(), 5));
    for (int i = 0; i < 200; ++i) answers += handed_back(encode(running(), 5));
    server_.connection({.answers = std::move(answers)});

    const auto done = run({commands::release{.by = mine}});

    EXPECT_EQ(why(done[0]).code, errc::conflict);
    EXPECT_EQ(why(done[0]).possible, effect::none);
}

TEST_F(RedisBackend, ARemovedRecordLeavesItsFenceForTheNext) {
    const auto seen = server_.connection(
        {.answers = std::string{hello} + handed_back(encode_grave(1ULL << 62)) + at_noon()});

    const auto done = run({begin_of()});

    EXPECT_EQ(said<answers::started>(done[0]).by.fence, (1ULL << 62) + 1);
    EXPECT_THAT(seen->sent, HasSubstr(text_of(script::swap).sha1));
}

TEST_F(RedisBackend, ABrokenRecordFailsAloneAndIsSaidToBeSo) {
    server_.connection({.answers = std::string{hello} + handed_back("\x01 rubbish") + at_noon()});

    const auto done = run({begin_of(), begin_of()});

    EXPECT_EQ(why(done[0]).code, errc::corrupt);
    EXPECT_EQ(why(done[0]).possible, effect::none);
    EXPECT_TRUE(*done[1].answer);
}

TEST_F(RedisBackend, AnErrorIsTheMatterOfItsCommandOnly) {
    server_.connection(
        {.answers = std::string{hello} + noon_told() + "-OOM command not allowed\r\n$-1\r\n"});

    const auto done = run({begin_of(), commands::lookup{}});

    EXPECT_EQ(why(done[0]).code, errc::no_space);
    EXPECT_EQ(why(done[0]).possible, effect::none);
    EXPECT_FALSE(said<answers::found>(done[1]).current);
}

TEST_F(RedisBackend, ALookThatGetsNoTimeFailsAndChangesNothing) {
    for (const auto* refusal : {"-NOPERM no 'time' for you\r\n", "-ERR of a proxy\r\n"}) {
        server_.connection(
            {.answers = std::string{hello} + refusal + bulk(encode(finished(), 2)) + at_noon()});

        const auto done = run({commands::lookup{}, begin_of()});

        EXPECT_EQ(why(done[0]).possible, effect::none) << describe(why(done[0]));
        EXPECT_TRUE(*done[1].answer) << "a script asks for the time itself";
    }
}

// Who completes would else give up at once, although the effect has taken place.
TEST_F(RedisBackend, ALoginRefusedOnReconnectingIsAMatterOfTime) {
    server_.connection({.answers = "+OK\r\n" + std::string{hello} + at_noon()});
    server_.connection({.answers = "-WRONGPASS invalid username-password pair\r\n"
                                   "-NOAUTH Authentication required.\r\n"});
    backend tested{std::make_shared<shared_link>(
                       link_options{.connect = server_.maker(), .password = "right"}),
                   setting_, &counters_};
    ASSERT_TRUE(*run_on(tested, {begin_of()})[0].answer);
    ASSERT_FALSE(*run_on(tested, {begin_of()})[0].answer) << "the server has closed it";

    const commands::complete end{.retention = hours{1}};
    const auto refused = why(run_on(tested, {end})[0]);
    const auto soon_after = why(run_on(tested, {end})[0]);

    for (const auto& one : {refused, soon_after}) {
        EXPECT_EQ(one.code, errc::unavailable);
        EXPECT_EQ(one.possible, effect::none);
        EXPECT_THAT(one.detail, HasSubstr("check user and password"));
    }
}

TEST_F(RedisBackend, ACertificateThatIsNotTrustedIsAMatterOfTime) {
    const auto connect = []() -> result<std::unique_ptr<net::stream>> {
        return failure{.code = errc::invalid_argument, .detail = "certificate has expired"};
    };
    backend tested{std::make_shared<shared_link>(link_options{.connect = connect}), setting_,
                   &counters_};

    const auto done = run_on(tested, {commands::complete{.retention = hours{1}}});

    EXPECT_EQ(why(done[0]).code, errc::unavailable);
    EXPECT_THAT(why(done[0]).detail, HasSubstr("certificate"));
}

TEST_F(RedisBackend, ARefusedCommandIsAMatterOfTime) {
    for (const auto* refusal :
         {"-NOPERM this user has no permissions\r\n", "-NOAUTH Authentication required.\r\n",
          "-ERR The user executing the script can't run this command\r\n",
          "-MOVED 3999 127.0.0.1:6381\r\n"}) {
        server_.connection({.answers = std::string{hello} + refusal});

        const auto done = run({commands::complete{.retention = hours{1}}});

        EXPECT_EQ(why(done[0]).code, errc::unavailable) << refusal;
    }
}

TEST_F(RedisBackend, AnAnswerNoLookGivesIsNotUnderstood) {
    for (const std::string& answer : {noon_told() + ":1\r\n", std::string{":1\r\n$-1\r\n"}}) {
        server_.connection({.answers = std::string{hello} + answer});

        const auto done = run({commands::lookup{}});

        EXPECT_EQ(why(done[0]).code, errc::not_a_store);
        EXPECT_EQ(why(done[0]).possible, effect::none);
    }
}

// ---- after many repeats

// The next begin is taken for one.
class RedisBackendOfRepeats : public RedisBackend {
protected:
    void hear_many_then(const std::string& next) {
        std::string answers{hello};
        for (int i = 0; i < enough; ++i) answers += handed_back(encode(finished(), 2));
        seen_ = server_.connection({.answers = answers + next});
        for (int i = 0; i < enough; ++i) run_on(tested_, {begin_of()});
        seen_->sent.clear();
    }

    static constexpr int enough = 256;

    std::shared_ptr<lines> seen_;
    backend tested_ = fresh_backend();
};

TEST_F(RedisBackendOfRepeats, OneMoreIsAGetAndABatchAsksForTheTimeOnce) {
    hear_many_then(looked(encode(finished(), 2)) + bulk(encode(running(), 1)));
    const auto before = counters_.round_trips.get();

    const auto done = run_on(tested_, {begin_of(), begin_of()});

    EXPECT_EQ(said<answers::replay>(done[0]).result.body, "once");
    EXPECT_TRUE(std::holds_alternative<answers::in_progress>(done[1].answer->value().said));
    EXPECT_EQ(counters_.round_trips.get() - before, 1U);
    EXPECT_THAT(seen_->sent, StartsWith("*1\r\n$4\r\nTIME\r\n*2\r\n$3\r\nGET\r\n"));
    EXPECT_THAT(seen_->sent, Not(HasSubstr("EVAL")));
    EXPECT_EQ(seen_->sent.rfind("TIME"), seen_->sent.find("TIME"));
}

TEST_F(RedisBackendOfRepeats, ANewOneIsClaimedByTheScriptAndTheNextIsTriedWithCare) {
    hear_many_then(noon_told() + "$-1\r\n" + at_noon() + at_noon());

    const auto done = run_on(tested_, {begin_of()});
    EXPECT_EQ(said<answers::started>(done[0]).lease_until, noon + seconds{30});
    EXPECT_THAT(seen_->sent, HasSubstr(text_of(script::begin).sha1));

    seen_->sent.clear();
    run_on(tested_, {begin_of()});
    EXPECT_THAT(seen_->sent, Not(HasSubstr("GET\r\n")));
}

TEST_F(RedisBackendOfRepeats, ALapsedOneIsTakenOverIfNobodyElseHas) {
    record lapsed = running();
    lapsed.lease_until = noon - hours{1};
    const std::string stored = encode(lapsed, 5);
    hear_many_then(looked(stored) + at_noon());

    const auto done = run_on(tested_, {begin_of()});

    EXPECT_GT(said<answers::started>(done[0]).by.fence, mine.fence);
    EXPECT_THAT(seen_->sent, HasSubstr(text_of(script::swap).sha1));
    EXPECT_THAT(seen_->sent, HasSubstr(bulk(stored.substr(0, stamp_bytes))));
}

TEST_F(RedisBackendOfRepeats, ALookThatIsNotAnsweredIsNotInDoubt) {
    hear_many_then(noon_told());

    const auto done = run_on(tested_, {begin_of()});

    EXPECT_EQ(why(done[0]).code, errc::unavailable);
    EXPECT_EQ(why(done[0]).possible, effect::none);
}

// ---- what is in doubt

TEST_F(RedisBackend, NothingIsInDoubtWithoutAConnection) {
    const auto done = run({begin_of(), commands::complete{}});

    for (const auto& one : done) {
        EXPECT_EQ(why(one).code, errc::unavailable);
        EXPECT_EQ(why(one).possible, effect::none);
    }
}

TEST_F(RedisBackend, WhatWasSentAndNotAnsweredIsInDoubt) {
    server_.connection({.answers = std::string{hello} + noon_told() + at_noon()});

    const auto done = run({begin_of(), begin_of(), commands::lookup{}});

    EXPECT_TRUE(*done[0].answer);
    EXPECT_EQ(why(done[1]).possible, effect::unknown);
    EXPECT_EQ(why(done[2]).possible, effect::none) << "a look-up changes nothing";
}

TEST_F(RedisBackend, SilenceIsATimeOutAndInDoubt) {
    server_.connection({.answers = std::string{hello}, .then = lines::end::silent});

    const auto done = run({begin_of()});

    EXPECT_EQ(why(done[0]).code, errc::timed_out);
    EXPECT_EQ(why(done[0]).possible, effect::unknown);
}

TEST_F(RedisBackend, WhatHasNotLeftInFullHasNoEffect) {
    // Room for the introduction and the first of two requests, which are of one length.
    const auto all = server_.connection({.answers = std::string{hello}});
    run({begin_of(), begin_of()});
    const std::size_t introduction = 44;
    const std::size_t each = (all->sent.size() - introduction) / 2;
    server_.connection(
        {.sends_max = introduction + each + each / 2, .answers = std::string{hello}});

    const auto done = run({begin_of(), begin_of()});

    EXPECT_EQ(why(done[0]).possible, effect::unknown);
    EXPECT_EQ(why(done[1]).possible, effect::none);
}

TEST_F(RedisBackend, ASecondStepThatIsNotAnsweredIsInDoubt) {
    server_.connection({.answers = std::string{hello} + looked(encode(running(), 5))});

    const auto done = run({commands::abandon{.by = mine}});

    EXPECT_EQ(why(done[0]).possible, effect::unknown);
}

TEST_F(RedisBackend, AnAnswerNoScriptGivesIsNotUnderstood) {
    server_.connection({.answers = std::string{hello} + "+OK\r\n"});

    const auto done = run({begin_of()});

    EXPECT_EQ(why(done[0]).code, errc::not_a_store);
    EXPECT_EQ(why(done[0]).possible, effect::unknown);
}

TEST_F(RedisBackend, AnAnswerOfAnotherScriptIsNotUnderstood) {
    const std::string two_times = "*2\r\n" + at_noon() + at_noon();
    const std::pair<command, std::string> wrong[]{
        {commands::renew{.by = mine, .lease = seconds{30}}, at_noon()},
        {commands::begin{begin_of()}, two_times},
        {commands::complete{.by = mine}, two_times},
        {commands::fail{.by = mine}, "*2\r\n" + at_noon() + "+OK\r\n"},
    };
    for (const auto& [what, answer] : wrong) {
        server_.connection({.answers = std::string{hello} + answer});

        const auto done = run({what});

        EXPECT_EQ(why(done[0]).code, errc::not_a_store) << answer;
        EXPECT_EQ(why(done[0]).possible, effect::unknown) << answer;
    }
}

TEST_F(RedisBackend, ARenewalTellsUntilWhenTheLeaseIs) {
    server_.connection({.answers = std::string{hello} + "*2\r\n" + at_noon() + at_noon()});

    const auto done = run({commands::renew{.by = mine, .lease = seconds{30}}});

    EXPECT_EQ(said<answers::renewed>(done[0]).lease_until, noon);
    EXPECT_EQ(counters_.record_writes.get(), 1U);
}

// ---- how long records live

TEST(RedisTimeToLive, FinishedRecordsGoAMinuteAfterTheirTime) {
    EXPECT_EQ(time_to_live(finished(), noon), hours{1} + std::chrono::minutes{1});
    EXPECT_EQ(time_to_live(finished(), noon + hours{2}), std::chrono::minutes{1});
}

TEST(RedisTimeToLive, ReleasedRecordsKeepTheirFenceForADay) {
    record it = running();
    it.state = record_state::failed_retryable;

    EXPECT_EQ(time_to_live(it, noon), hours{24});
}

TEST(RedisTimeToLive, ForsakenClaimsGoWhenTheyMayNotBeRenewedAnyMore) {
    record it = running();
    it.policy.processing_max = hours{1};
    it.policy.grace = seconds{5};
    EXPECT_EQ(time_to_live(it, noon), hours{1} - seconds{5} + std::chrono::minutes{1});

    it.lease_until = noon + hours{3};
    EXPECT_EQ(time_to_live(it, noon), hours{3} + seconds{5} + std::chrono::minutes{1});
}

TEST(RedisTimeToLive, WhatAnOperatorMustSettleStays) {
    record it = running();
    it.policy.on_lease_expiry = lease_expiry::hold;
    EXPECT_FALSE(time_to_live(it, noon));
    it.policy.on_lease_expiry = lease_expiry::probe;
    EXPECT_FALSE(time_to_live(it, noon));
    it.policy.on_lease_expiry = lease_expiry::retry;
    EXPECT_TRUE(time_to_live(it, noon));
    it.attempts = it.policy.attempts_max;
    EXPECT_FALSE(time_to_live(it, noon));
}

// A transport of the user's own may throw, and any reply can be more than there is memory for.
class throwing_transport final : public net::stream {
public:
    result<std::size_t> send(std::string_view bytes, duration) override { return bytes.size(); }
    result<std::size_t> receive(std::span<char> into, duration) override {
        if (!greeting_.empty()) {
            std::copy(greeting_.begin(), greeting_.end(), into.begin());
            return std::exchange(greeting_, {}).size();
        }
        throw std::bad_alloc{};
    }

private:
    std::string_view greeting_ = hello;
};

TEST_F(RedisBackend, ConnectionIsNotUsedAgainAfterAnException) {
    server_.connection({.answers = std::string{hello} + at_noon()});
    const auto connect = [&, first = true]() mutable {
        if (!std::exchange(first, false)) return server_.maker()();
        return result<std::unique_ptr<net::stream>>{std::make_unique<throwing_transport>()};
    };
    backend tested{std::make_shared<shared_link>(link_options{.connect = connect}), setting_,
                   &counters_};
    EXPECT_EQ(why(run_on(tested, {begin_of()})[0]).code, errc::no_space);

    const auto done = run_on(tested, {begin_of()});

    EXPECT_EQ(said<answers::started>(done[0]).lease_until, noon + seconds{30});
}

} // namespace
} // namespace semel::redis
