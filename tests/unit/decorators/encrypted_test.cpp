#include "semel/store/decorators.hpp"

#include <gtest/gtest.h>

#include "conformance/memory_subject.hpp"
#include "store/sealed_box.hpp"
#include "support/shared_store.hpp"
#include "unit/decorators/watched_store.hpp"

namespace semel::testing::encrypted_test {
namespace {

using namespace std::chrono_literals;

encryption_key key(std::string id, char seed) {
    return {.id = std::move(id), .secret = std::string(32, seed)};
}

// An encrypting store, and the same records as whoever reads the database sees them.
struct Encrypted : ::testing::Test {
    std::unique_ptr<store> with(std::vector<encryption_key> keys,
                                unencrypted others = unencrypted::refuse) {
        return open_encrypted_store(
                   std::make_unique<support::shared_store>(raw),
                   {.keys = std::move(keys), .others = others, .counters = &counters})
            .value();
    }

    static claim start(store& in, const record_id& id) {
        return std::get<answers::started>(in.call(id, begin_with(print('a'))).value().said).by;
    }
    static void finish(store& in, const record_id& id, const claim& by, std::string body) {
        commands::complete what{.by = by, .result = body_of(std::move(body)), .retention = 1h};
        ASSERT_TRUE(std::holds_alternative<answers::stored>(in.call(id, what).value().said));
    }
    static void run(store& in, const record_id& id, std::string body) {
        finish(in, id, start(in, id), std::move(body));
    }
    static stored_result replayed(store& from, const record_id& id) {
        return std::get<answers::replay>(from.call(id, begin_with(print('a'))).value().said).result;
    }
    static record read(store& from, const record_id& id) {
        auto got = from.call(id, commands::lookup{});
        return *std::get<answers::found>(got.value().said).current;
    }
    // Somebody with access to the database writes a result of his own.
    void plant(const record_id& of, stored_result what) {
        const claim by = start(*raw, of);
        commands::complete done{.by = by, .result = std::move(what), .retention = 1h};
        raw->call(of, done).value();
    }

    std::shared_ptr<store> raw = open_memory_store();
    encryption_counters counters;
    std::unique_ptr<store> outer = with({key("one", 'x')});
    const record_id id = order("1");
};

TEST_F(Encrypted, ResultsComeBackAsTheyWere) {
    run(*outer, id, "secret body");

    EXPECT_EQ(replayed(*outer, id), body_of("secret body"));
    EXPECT_EQ(read(*outer, id).result, body_of("secret body"));
    EXPECT_EQ(counters.unreadable.get(), 0U);
}

TEST_F(Encrypted, TheStoreHoldsNeitherTheBodyNorItsChecksum) {
    run(*outer, id, "secret body");

    const stored_result kept = read(*raw, id).result;

    EXPECT_EQ(kept.body.find("secret"), std::string::npos);
    EXPECT_NE(kept.checksum, body_of("secret body").checksum);
    EXPECT_TRUE(holds(kept));
    EXPECT_NE(kept.body.find("one"), std::string::npos); // the key's id
    EXPECT_EQ(kept.ref, "order-1");
}

TEST_F(Encrypted, EmptyBodiesAreEncryptedToo) {
    run(*outer, id, "");

    EXPECT_FALSE(read(*raw, id).result.body.empty());
    EXPECT_EQ(replayed(*outer, id), body_of(""));
}

TEST_F(Encrypted, AResultMovedToAnotherRecordDoesNotOpen) {
    const record_id other = order("2");
    run(*outer, id, "for 1");
    plant(other, read(*raw, id).result);

    EXPECT_FALSE(holds(replayed(*outer, other)));
    EXPECT_EQ(replayed(*outer, other).body, "");
    EXPECT_EQ(counters.unreadable.get(), 2U);
}

TEST_F(Encrypted, AResultThatIsGivenBackOpensAgain) {
    run(*outer, id, "old");
    commands::begin other = begin_with(print('b'));
    other.mismatch = on_mismatch::overwrite;
    const auto late = std::get<answers::started>(outer->call(id, other).value().said);
    ASSERT_NE(late.replaced, nullptr);
    EXPECT_EQ(late.replaced->result.body, "old");

    const commands::release back{.by = late.by, .replaced = late.replaced};
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(std::holds_alternative<answers::stored>(outer->call(id, back).value().said));
    }

    EXPECT_EQ(replayed(*outer, id), body_of("old"));
    EXPECT_EQ(read(*raw, id).result.body.find("old"), std::string::npos);
    EXPECT_EQ(counters.unreadable.get(), 0U);
}

TEST_F(Encrypted, StepsThatAreGivenBackOpenAgain) {
    const claim first = start(*outer, id);
    outer->call(id, commands::checkpoint{.by = first, .step = {"paid", "secret"}}).value();
    outer->call(id, commands::fail{.by = first, .retention = 1h}).value();
    commands::begin other = begin_with(print('b'));
    other.mismatch = on_mismatch::overwrite;
    const auto late = std::get<answers::started>(outer->call(id, other).value().said);

    outer->call(id, commands::release{.by = late.by, .replaced = late.replaced}).value();

    const auto again = outer->call(id, begin_with(print('a'))).value();
    EXPECT_EQ(std::get<answers::started>(again.said).checkpoints,
              (std::vector<checkpoint>{{"paid", "secret"}}));
    EXPECT_EQ(read(*raw, id).checkpoints.front().data.find("secret"), std::string::npos);
}

TEST_F(Encrypted, AResultOfAnEarlierAttemptDoesNotOpen) {
    run(*outer, id, "first");
    const stored_result old = read(*raw, id).result;
    raw->call(id, commands::remove{.actor = "me", .reason = "test"}).value();
    plant(id, old);

    EXPECT_FALSE(holds(replayed(*outer, id)));
}

TEST_F(Encrypted, EveryChangedBitIsNoticed) {
    run(*outer, id, "body");
    const std::string whole = read(*raw, id).result.body;
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
        std::string changed = whole;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
        const record_id victim = order("bit" + std::to_string(bit));
        plant(victim, body_of(changed));

        EXPECT_FALSE(holds(replayed(*outer, victim))) << bit;
    }
}

TEST_F(Encrypted, CutAnywhereItDoesNotOpen) {
    const sealed_box box{{key("one", 'x')}};
    const std::string whole = box.close("body", "bound");

    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_EQ(box.open(whole.substr(0, size), "bound"), std::nullopt) << size;
    }
    EXPECT_EQ(box.open(whole, "bound"), "body");
    EXPECT_EQ(box.open(whole, "bounds"), std::nullopt);
    EXPECT_NE(box.close("body", "bound"), whole); // another nonce
}

TEST_F(Encrypted, KeysRotate) {
    run(*outer, id, "old");
    const auto rotated = with({key("two", 'y'), key("one", 'x')});
    run(*rotated, order("2"), "new");

    EXPECT_EQ(replayed(*rotated, id).body, "old");
    EXPECT_EQ(replayed(*rotated, order("2")).body, "new");
    EXPECT_FALSE(holds(replayed(*outer, order("2"))));
    EXPECT_FALSE(holds(replayed(*with({key("two", 'y')}), id)));
    EXPECT_FALSE(holds(replayed(*with({key("one", 'z')}), id))); // the id lies
}

TEST_F(Encrypted, PlainResultsAreRefusedUnlessAccepted) {
    run(*raw, id, "plain");

    EXPECT_FALSE(holds(replayed(*outer, id)));
    EXPECT_EQ(replayed(*with({key("one", 'x')}, unencrypted::accept), id), body_of("plain"));
}

TEST_F(Encrypted, AVerdictsResultComesBack) {
    const claim by = start(*outer, id);
    outer->call(id, commands::abandon{.by = by}).value();
    commands::resolve what{.expected_fence = by.fence,
                           .verdict = commands::resolve::committed{body_of("settled")},
                           .retention = 1h,
                           .actor = "me",
                           .reason = "test"};
    ASSERT_TRUE(std::holds_alternative<answers::resolved>(outer->call(id, what).value().said));

    EXPECT_EQ(replayed(*outer, id), body_of("settled"));
    EXPECT_EQ(read(*raw, id).result.body.find("settled"), std::string::npos);
}

TEST_F(Encrypted, AFencedOffOwnerReadsTheWinnersResult) {
    const claim late{.fence = 1, .owner = {.high = 9, .low = 9}};
    run(*outer, id, "winner");
    commands::complete what{.by = late, .result = body_of("late"), .retention = 1h};

    auto got = outer->call(id, what);

    EXPECT_EQ(std::get<answers::fenced_off>(got.value().said).current->result, body_of("winner"));
}

TEST_F(Encrypted, CheckpointsAreReadByTheNextAttempt) {
    const claim by = start(*outer, id);
    outer->call(id, commands::checkpoint{.by = by, .step = {"charge", "secret"}}).value();
    outer->call(id, commands::abandon{.by = by}).value();

    EXPECT_EQ(read(*raw, id).checkpoints[0].data.find("secret"), std::string::npos);
    EXPECT_EQ(read(*outer, id).checkpoints[0].data, "secret");
    auto again = outer->call(id, begin_with(print('a')), read(*raw, id).lease_until + 1min);
    EXPECT_EQ(std::get<answers::started>(again.value().said).checkpoints[0].data, "secret");
}

TEST_F(Encrypted, ACheckpointThatDoesNotOpenStopsTheAttempt) {
    const claim by = start(*raw, id);
    raw->call(id, commands::checkpoint{.by = by, .step = {"charge", "planted"}}).value();
    raw->call(id, commands::abandon{.by = by}).value();

    const auto found = outer->call(id, commands::lookup{});
    const auto begun = outer->call(id, begin_with(print('a')), read(*raw, id).lease_until + 1min);

    EXPECT_EQ(found.error().code, errc::corrupt);
    EXPECT_EQ(found.error().possible, effect::none);
    EXPECT_EQ(begun.error().code, errc::corrupt);
    EXPECT_EQ(begun.error().possible, effect::unknown);
}

TEST_F(Encrypted, SubmittedCommandsAreEncryptedToo) {
    const claim by = start(*outer, id);
    std::vector<submission> many;
    many.push_back(
        {.what = {.id = id,
                  .what =
                      commands::complete{.by = by, .result = body_of("batch"), .retention = 1h}},
         .done = [](result<reply> got) { EXPECT_TRUE(got.has_value()); }});
    outer->submit_all(std::move(many));
    std::string body;
    outer->submit({.id = id, .what = begin_with(print('a'))}, [&](result<reply> got) {
        body = std::get<answers::replay>(got.value().said).result.body;
    });

    EXPECT_EQ(body, "batch");
    EXPECT_EQ(read(*raw, id).result.body.find("batch"), std::string::npos);
}

TEST_F(Encrypted, SearchesOpenTheResultsTheyAreAskedFor) {
    run(*outer, order("mine"), "secret");
    plant(order("planted"), body_of("forged"));
    const record_query with_bodies{.key = "mine", .results = result_bodies::included};

    const auto found = outer->search(with_bodies).value().records.at(0).it.result;
    const auto stored = raw->search(with_bodies).value().records.at(0).it.result;
    const auto forged =
        outer->search({.key = "planted", .results = result_bodies::included}).value().records;
    const auto plain = outer->search({}).value().records;

    EXPECT_EQ(found, body_of("secret"));
    EXPECT_EQ(stored.body.find("secret"), std::string::npos);
    EXPECT_FALSE(holds(forged.at(0).it.result));
    EXPECT_EQ(counters.unreadable.get(), 1U);
    ASSERT_EQ(plain.size(), 2U);
    EXPECT_EQ(plain[0].it.result.body + plain[1].it.result.body, "");
}

class encrypted_backing final : public conformance::backing {
public:
    result<std::unique_ptr<store>> open() override {
        return open_encrypted_store(open_memory_store(), {.keys = {key("one", 'x')}});
    }
};

TEST_F(Encrypted, AnswersEveryCommandAsTheStoreItWraps) {
    conformance::subject what = conformance::memory_subject();
    what.make = [] { return std::make_unique<encrypted_backing>(); };

    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const auto report = conformance::walk(what, {.seed = seed, .commands = 2'000});

        EXPECT_EQ(report.difference, std::nullopt);
    }
}

TEST_F(Encrypted, WrongKeysAreRefusedAtOnce) {
    const auto refused = [](std::vector<encryption_key> keys) {
        const auto made = open_encrypted_store(open_memory_store(), {.keys = std::move(keys)});
        return !made && made.error().code == errc::invalid_argument;
    };

    EXPECT_TRUE(refused({}));
    EXPECT_TRUE(refused({{.id = "", .secret = std::string(32, 'x')}}));
    EXPECT_TRUE(refused({{.id = std::string(65, 'i'), .secret = std::string(32, 'x')}}));
    EXPECT_TRUE(refused({{.id = "a", .secret = std::string(31, 'x')}}));
    EXPECT_TRUE(refused({key("a", 'x'), key("a", 'y')}));
    EXPECT_FALSE(refused({key("a", 'x'), key("b", 'x')}));
}

} // namespace
} // namespace semel::testing::encrypted_test
