// Answers that cross on their way: an old one must not be remembered after a newer act.
#include <gtest/gtest.h>

#include "unit/decorators/watched_store.hpp"

namespace semel::testing {
namespace {

using namespace std::chrono_literals;

struct CachedRace : ::testing::Test, cached_fixture {
    CachedRace() {
        finished_elsewhere(id, print('a'), "old");
        inner->holding = true;
    }

    void send(command what) {
        outer->submit({.id = id, .what = std::move(what)}, [](result<reply>) {});
    }

    // Asks the store unless the cache believes that it knows.
    result<reply> ask() { return begin(id, print('a')); }

    const record_id id = order("1");
};

TEST_F(CachedRace, AReplayFromBeforeARemovalIsNotRemembered) {
    send(begin_with(print('a')));
    inner->execute();
    send(commands::remove{});
    inner->deliver(1);
    inner->deliver(0);

    EXPECT_TRUE(std::holds_alternative<answers::started>(ask().value().said));
}

TEST_F(CachedRace, NothingIsRememberedWhileARemovalIsUnanswered) {
    send(commands::remove{});
    send(begin_with(print('a')));
    inner->execute(1); // another connection was faster
    inner->execute(0);
    inner->deliver(1);

    EXPECT_TRUE(std::holds_alternative<answers::started>(ask().value().said));
}

TEST_F(CachedRace, AReplayAskedForDuringARemovalIsNotRememberedAfterIt) {
    send(commands::remove{});
    send(begin_with(print('a')));
    inner->execute(1);
    inner->deliver(0);
    inner->deliver(0);

    EXPECT_TRUE(std::holds_alternative<answers::started>(ask().value().said));
}

TEST_F(CachedRace, AReplayFromBeforeAnOverwriteIsNotRemembered) {
    send(begin_with(print('a')));
    inner->execute();
    send(begin_with(print('b'), on_mismatch::overwrite));
    inner->deliver(1);
    inner->deliver(0);

    EXPECT_TRUE(std::holds_alternative<answers::mismatch>(ask().value().said));
}

TEST_F(CachedRace, ACompletionFromBeforeARemovalIsNotRemembered) {
    inner->holding = false;
    const record_id other = order("2");
    const claim by = start(other, print('a'));
    inner->holding = true;
    commands::complete what{.by = by, .result = body_of("done")};
    what.retention = 1h;
    outer->submit({.id = other, .what = std::move(what)}, [](result<reply>) {});
    inner->execute();
    outer->submit({.id = other, .what = commands::remove{}}, [](result<reply>) {});
    inner->deliver(1);
    inner->deliver(0);

    EXPECT_TRUE(std::holds_alternative<answers::started>(begin(other, print('a')).value().said));
}

TEST_F(CachedRace, AVerdictFromBeforeItsCorrectionIsNotRemembered) {
    inner->holding = false;
    const record_id other = order("2");
    const claim by = start(other, print('a'));
    elsewhere(other, commands::abandon{.by = by}).value();
    const auto verdict = [](std::uint64_t fence, const char* body) {
        return commands::resolve{.expected_fence = fence,
                                 .verdict = commands::resolve::committed{body_of(body)},
                                 .retention = 1h};
    };
    const auto said = elsewhere(other, verdict(by.fence, "wrong")).value().said;
    const auto fence = std::get<answers::resolved>(said).fence;
    inner->holding = true;

    outer->submit({.id = other, .what = begin_with(print('a'))}, [](result<reply>) {});
    inner->execute();
    outer->submit({.id = other, .what = verdict(fence, "right")}, [](result<reply>) {});
    inner->deliver(1);
    inner->deliver(0);

    EXPECT_EQ(body_in(begin(other, print('a'))), "right");
}

TEST_F(CachedRace, ARemovalThatFailedEndsAllTheSame) {
    send(commands::remove{});
    inner->next_failure = failure{.code = errc::unavailable};
    inner->deliver();

    EXPECT_EQ(trips_of([&] { ask().value(); }), 1);
    EXPECT_EQ(trips_of([&] { ask().value(); }), 0) << "remembered again";
}

TEST_F(CachedRace, DestructionDeliversWhatIsOnItsWay) {
    int answered = 0;
    outer->submit({.id = id, .what = begin_with(print('a'))},
                  [&](result<reply> got) { answered += got.has_value() ? 1 : 0; });

    outer.reset();

    EXPECT_EQ(answered, 1);
}

} // namespace
} // namespace semel::testing
