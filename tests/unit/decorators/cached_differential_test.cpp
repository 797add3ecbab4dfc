// The cache must be invisible: the same commands at the same times give the same answers with it
// and without it.
#include <gtest/gtest.h>

#include <random>

#include "unit/decorators/watched_store.hpp"

namespace semel::testing {
namespace {

using namespace std::chrono_literals;

class random_commands {
public:
    explicit random_commands(std::uint64_t seed) : draw_(seed) {}

    std::size_t below(std::size_t limit) { return draw_() % limit; }
    duration tick() { return duration{static_cast<duration::rep>(below(4) == 0 ? below(400) : 0)}; }
    record_id id() { return order(std::to_string(below(6))); }

    void note(const record_id& id, const reply& got) {
        if (const auto* said = std::get_if<answers::started>(&got.said)) {
            claims_.push_back({id, said->by});
            if (claims_.size() > 8) claims_.pop_front();
        }
    }

    command next(const record_id& id) {
        switch (below(24)) {
        case 0: return commands::remove{.actor = "a", .reason = "b"};
        case 1: return commands::purge{};
        case 2: return commands::lookup{};
        case 3: return commands::release{.by = claim_of(id)};
        case 4: return commands::abandon{.by = claim_of(id)};
        case 5: return fail_of(claim_of(id));
        case 6:
        case 7:
        case 8: return complete_of(claim_of(id));
        case 9: return resolve_of(claim_of(id).fence);
        default: return begin();
        }
    }

private:
    claim claim_of(const record_id& id) {
        for (auto one = claims_.rbegin(); one != claims_.rend(); ++one) {
            if (one->first == id && below(5) != 0) return one->second;
        }
        return {.fence = below(1'000), .owner = {.high = 1, .low = 1}};
    }

    commands::begin begin() {
        auto what = begin_with(std::nullopt);
        if (const auto pick = below(8); pick != 0) what.content = print(pick < 7 ? 'a' : 'b');
        what.owner = {.high = draw_(), .low = draw_()};
        what.lease = duration{static_cast<duration::rep>(200 + below(800))};
        what.policy.grace = 50us;
        what.policy.attempts_max = 3;
        what.policy.on_lease_expiry = below(8) == 0 ? lease_expiry::hold : lease_expiry::retry;
        if (below(20) == 0) what.mismatch = on_mismatch::overwrite;
        return what;
    }

    commands::complete complete_of(const claim& by) {
        commands::complete what{.by = by, .result = body_of(std::to_string(draw_()))};
        what.result.kind = static_cast<result_kind>(below(3));
        what.retention = retention();
        return what;
    }

    commands::fail fail_of(const claim& by) {
        commands::fail what{.by = by, .kind = static_cast<commands::failure_kind>(below(2))};
        what.error = std::to_string(draw_());
        what.retry_after = duration{static_cast<duration::rep>(below(300))};
        what.retention = retention();
        return what;
    }

    commands::resolve resolve_of(std::uint64_t fence) {
        commands::resolve what{.expected_fence = fence};
        if (below(2) == 0) what.verdict = commands::resolve::committed{body_of("resolved")};
        what.retention = retention();
        return what;
    }

    duration retention() { return duration{static_cast<duration::rep>(below(20'000))}; }

    std::mt19937_64 draw_;
    std::deque<std::pair<record_id, claim>> claims_;
};

template <class One> void expect_same(const One&, const One&) {}
void expect_same(const answers::started& a, const answers::started& b) {
    EXPECT_EQ(a.by, b.by);
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.attempt, b.attempt);
}
void expect_same(const answers::replay& a, const answers::replay& b) {
    EXPECT_EQ(a.result, b.result);
    EXPECT_EQ(a.fence, b.fence);
    EXPECT_EQ(a.expires_at, b.expires_at);
}
void expect_same(const answers::mismatch& a, const answers::mismatch& b) {
    EXPECT_EQ(a.stored, b.stored);
}
void expect_same(const answers::failed& a, const answers::failed& b) {
    EXPECT_EQ(a.state, b.state);
    EXPECT_EQ(a.error, b.error);
    EXPECT_EQ(a.attempts, b.attempts);
    EXPECT_EQ(a.expires_at, b.expires_at);
}
void expect_same(const answers::in_progress& a, const answers::in_progress& b) {
    EXPECT_EQ(a.holder, b.holder);
    EXPECT_EQ(a.retry_at, b.retry_at);
}
void expect_same(const answers::stored& a, const answers::stored& b) {
    EXPECT_EQ(a.expires_at, b.expires_at);
}
void expect_same(const answers::found& a, const answers::found& b) {
    EXPECT_EQ(a.current, b.current);
}

void expect_same(const reply& plain, const reply& through) {
    ASSERT_EQ(name(plain.said), name(through.said));
    EXPECT_EQ(plain.now, through.now);
    std::visit(
        [&](const auto& one) {
            expect_same(one, std::get<std::decay_t<decltype(one)>>(through.said));
        },
        plain.said);
}

// Returns how many answers came from the cache.
std::uint64_t compare(std::uint64_t seed, int steps, cached_store_options options) {
    random_commands random{seed};
    cache_counters counters;
    options.counters = &counters;
    const auto plain = open_memory_store();
    const auto through = open_cached_store(open_memory_store(), options);
    time_point now{1'000'000us};

    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(i));
        now += random.tick();
        if (random.below(200) == 0) {
            EXPECT_EQ(plain->sweep({.now = now}).value().removed,
                      through->sweep({.now = now}).value().removed);
        }
        const record_id id = random.id();
        const command what = random.next(id);
        const reply expected = plain->call(id, what, now).value();
        expect_same(expected, through->call(id, what, now).value());
        random.note(id, expected);
    }
    return counters.hits;
}

TEST(CachedDifferential, IsInvisibleWithRoomForEverything) {
    std::uint64_t hits = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        hits += compare(seed, 500, {.age_max = 1h});
        if (HasFailure()) return;
    }
    EXPECT_GT(hits, 5'000U) << "the comparison must meet the cache";
}

TEST(CachedDifferential, IsInvisibleWhileEvicting) {
    std::uint64_t hits = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        hits += compare(seed, 500, {.bytes_max = 2'000, .age_max = 1ms});
        if (HasFailure()) return;
    }
    EXPECT_GT(hits, 1'000U) << "the comparison must meet the cache";
}

} // namespace
} // namespace semel::testing
