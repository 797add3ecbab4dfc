// Random commands at random times: every answer and every stored record equals what apply() says.
#include <map>
#include <optional>
#include <random>

#include "fault_vfs.hpp"
#include "semel/core/record_machine.hpp"
#include "sqlite_fixture.hpp"

namespace semel {
namespace {

// What the store should hold.
class model {
public:
    answer execute(const record_id& id, const command& what, time_point now) {
        const auto it = records_.find(id);
        const bool there = it != records_.end();
        auto made = apply(there ? &it->second : nullptr, what, {.now = now, .fence_floor = floor_});
        if (made.what == change::put) records_[id] = *made.after;
        if (made.what == change::erase) {
            floor_ = std::max(floor_, it->second.holder.fence);
            records_.erase(it);
        }
        return made.said;
    }

    [[nodiscard]] std::optional<record> stored(const record_id& id) const {
        const auto it = records_.find(id);
        return it == records_.end() ? std::nullopt : std::optional{it->second};
    }

private:
    std::map<record_id, record> records_;
    std::uint64_t floor_ = 0;
};

class random_commands {
public:
    explicit random_commands(std::uint64_t seed) : random_(seed) {}

    record_id id() {
        static const char* const keys[]{"k", "K", "k ", "\0k"};
        return id_of(keys[below(4)]);
    }

    // Mostly forward, sometimes back: clocks do that.
    time_point time() {
        now_ += below(8) == 0 ? -duration{below(2'000)} : duration{below(1'500)};
        return now_;
    }

    command next(const std::optional<record>& stored) {
        const claim by =
            stored && below(4) != 0 ? stored->holder : claim{.fence = 7, .owner = bert};
        switch (below(14)) {
        case 0:
        case 1:
        case 2: return begin();
        case 3:
        case 4: return complete(by);
        case 5:
            return commands::fail{.by = by,
                                  .kind = below(2) == 0 ? commands::failure_kind::retryable
                                                        : commands::failure_kind::final,
                                  .error = text(),
                                  .retry_after = span(),
                                  .retention = span()};
        case 6: return commands::release{.by = by};
        case 7: return commands::abandon{.by = by};
        case 8: return commands::renew{.by = by, .lease = span()};
        case 9:
        case 10: return commands::checkpoint{.by = by, .step = {.name = text(), .data = text()}};
        case 11: return resolve(by.fence);
        case 12: return commands::remove{.actor = "op", .reason = text()};
        default: return commands::purge{};
        }
    }

private:
    std::int64_t below(std::int64_t end) {
        return std::uniform_int_distribution<std::int64_t>{0, end - 1}(random_);
    }
    duration span() { return duration{1 + below(3'000)}; }
    std::string text() { return std::string(static_cast<std::size_t>(below(4)), '\0') + "x"; }

    stored_result result() {
        stored_result made{.kind = static_cast<result_kind>(below(3)),
                           .body = text(),
                           .type = text(),
                           .ref = below(2) == 0 ? "" : text()};
        seal(made);
        return made;
    }
    command begin() {
        commands::begin made{.owner = {.high = ~0ULL, .low = random_()}, .lease = span()};
        if (below(3) != 0) {
            fingerprint::bytes_type bytes{};
            bytes[0] = static_cast<std::byte>(below(2));
            made.content = fingerprint{bytes};
        }
        made.policy = {.on_lease_expiry = static_cast<lease_expiry>(below(3)),
                       .attempts_max = static_cast<std::uint32_t>(1 + below(4)),
                       .grace = duration{below(100)},
                       .processing_max = span()};
        made.mismatch = below(4) == 0 ? on_mismatch::overwrite : on_mismatch::refuse;
        made.attributes = below(2) == 0 ? "" : "{}";
        return made;
    }
    command complete(const claim& by) {
        return commands::complete{.by = by, .result = result(), .retention = span()};
    }
    command resolve(std::uint64_t fence) {
        commands::resolve made{.expected_fence = fence, .retention = span(), .actor = "op"};
        switch (below(3)) {
        case 0: made.verdict = commands::resolve::committed{.result = result()}; break;
        case 1: made.verdict = commands::resolve::not_executed{}; break;
        default: made.verdict = commands::resolve::failed{.error = text()}; break;
        }
        return made;
    }

    std::mt19937_64 random_;
    time_point now_ = at(1'000'000);
};

// Equality of answers by what they show; the variants themselves have no operator.
std::string shown(const answer& what) {
    std::string text{name(what)};
    const auto add = [&](auto number) { text += " " + std::to_string(number); };
    const auto add_time = [&](time_point when) { add(when.time_since_epoch().count()); };
    if (const auto* one = std::get_if<answers::started>(&what)) {
        add(one->by.fence), add(one->by.owner.low), add(one->by.owner.high), add(one->attempt);
        add(static_cast<int>(one->kind)), add_time(one->lease_until), add(one->checkpoints.size());
        text += one->content ? one->content->as_string_view() : "-";
    } else if (const auto* replay = std::get_if<answers::replay>(&what)) {
        add(replay->fence), add_time(replay->expires_at), add(replay->result.checksum);
        text += replay->result.body + replay->result.type + replay->result.ref;
    } else if (const auto* busy = std::get_if<answers::in_progress>(&what)) {
        add(busy->holder.fence), add_time(busy->retry_at), add(busy->attempt);
    } else if (const auto* stored = std::get_if<answers::stored>(&what)) {
        add_time(stored->expires_at);
    } else if (const auto* resolved = std::get_if<answers::resolved>(&what)) {
        add(resolved->fence);
    } else if (const auto* fenced = std::get_if<answers::fenced_off>(&what)) {
        add(fenced->current ? fenced->current->holder.fence : 0);
    }
    return text;
}

class SqliteDifferential : public sqlite_test, public testing::WithParamInterface<std::uint64_t> {};

TEST_P(SqliteDifferential, EveryStepIsAsTheRecordMachineSays) {
    fault_vfs disk;
    disk.set.hasty = true;
    const auto store = open();
    random_commands random{GetParam()};
    model expected;
    // Before every expiry, so that whatever is stored can be seen.
    const time_point always = at(-1'000'000'000);

    for (int step = 0; step < 600; ++step) {
        const record_id id = random.id();
        const time_point now = random.time();
        const command what = random.next(expected.stored(id));

        const auto got = store->call(id, what, now);

        ASSERT_TRUE(got) << describe(got.error());
        ASSERT_EQ(shown(got->said), shown(expected.execute(id, what, now)))
            << "step " << step << ", " << name(what);
        ASSERT_EQ(got->now, now);
        const auto seen = said<answers::found>(store->call(id, commands::lookup{}, always));
        ASSERT_EQ(seen.current, expected.stored(id)) << "step " << step << ", " << name(what);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SqliteDifferential, testing::Range<std::uint64_t>(1, 9));

} // namespace
} // namespace semel
