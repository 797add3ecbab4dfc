#include "conformance/workload.hpp"

#include <algorithm>
#include <utility>

#include "semel/core/policy.hpp"

namespace semel::conformance {

namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using namespace std::string_literals;

fingerprint content(unsigned char fill) {
    fingerprint::bytes_type bytes;
    bytes.fill(static_cast<std::byte>(fill));
    return fingerprint{bytes};
}

std::string all_bytes() {
    std::string bytes;
    for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
    return bytes;
}

// The moments at which the judgement about a record changes.
std::vector<time_point> turning_points(const record& it) {
    if (it.state == record_state::processing) {
        return {it.lease_until, it.lease_until + it.policy.grace,
                it.begun_at + it.policy.processing_max};
    }
    if (it.state == record_state::failed_retryable) return {it.retry_after, it.expires_at};
    return {it.expires_at};
}

} // namespace

const std::vector<record_id>& confusable_ids() {
    static const std::vector<record_id> ids{
        // Case, blanks, normal forms.
        {"acme", "ORDER", "key"},
        {"acme", "ORDER", "Key"},
        {"acme", "ORDER", "key "},
        {"acme", "ORDER", " key"},
        {"acme", "ORDER", "key\t"},
        {"acme", "order", "key"},
        {"ACME", "ORDER", "key"},
        {"acme ", "ORDER", "key"},
        {"acme", "ORDER", "caf\xC3\xA9"},
        {"acme", "ORDER", "cafe\xCC\x81"},
        {"acme", "ORDER", "cafe"},
        {"acme", "ORDER",
         "stra\xC3\x9F"
         "e"},
        {"acme", "ORDER", "strasse"},
        // Numbers that are equal and text that is not.
        {"acme", "ORDER", "1"},
        {"acme", "ORDER", "01"},
        {"acme", "ORDER", "1.0"},
        {"acme", "ORDER", "1e0"},
        // NUL and other bytes that are no text.
        {"acme", "ORDER", "k"},
        {"acme", "ORDER", "k\0"s},
        {"acme", "ORDER", "k\0a"s},
        {"acme", "ORDER", "k\0b"s},
        {"ac\0me"s, "ORDER", "k"},
        {"acme", "ORDER", "\xFF\xFE\x80"},
        {"acme", "ORDER", std::string(255, '\xFF')},
        {"acme", "ORDER", std::string(254, '\xFF')},
        // Parts that run into one another.
        {"a", "bc", "k"},
        {"ab", "c", "k"},
        {"abc", "", "k"},
        {"", "abc", "k"},
        {"a", "b", "ck"},
        {"", "", "abck"},
        {"a:b", "c", "d"},
        {"a", "b:c", "d"},
        {"a", "b", "c:d"},
        {"a/b", "c", "d"},
        {"a", "b/c", "d"},
        {"a|b", "c", "d"},
        {"a", "b|c", "d"},
        {"1:a", "1:b", "k"},
        {"1:a1:b", "", "k"},
        {"a", "1:b1:k", ""},
        // What means something in a query or a pattern.
        {"acme", "ORDER", "%"},
        {"acme", "ORDER", "_"},
        {"acme", "ORDER", "*"},
        {"acme", "ORDER", "' OR '1'='1"},
        {std::string(64, 't'), std::string(64, 'o'), std::string(255, 'k')},
    };
    return ids;
}

step workload::next(checker& model) {
    ++steps_;
    if (!queued_.empty()) return next_queued();
    const record_id& id = pick_id();
    const known& it = model.about(id);
    move_time(it);
    if (chance(3)) {
        return sweep_request{.records_max = one_of<std::size_t>({1, 3, 1'000}), .now = now_};
    }
    const auto& now = it.possible.front();
    if (now && now->state == record_state::processing && below(100) == 0) {
        queue_checkpoints(id, now->holder);
        return next_queued();
    }
    envelope what{.id = id, .what = pick_command(it), .now = now_};
    // As a client whose answer was lost, and to see what has been written. Undoing commands are
    // rare, so most of them are repeated.
    const auto* const undo = std::get_if<commands::release>(&what.what);
    const bool undoes = undo != nullptr && undo->replaced != nullptr;
    if (chance(undoes ? 60 : 10)) queued_.push_back(what);
    if (chance(25)) queued_.push_back({.id = id, .what = commands::lookup{}});
    return what;
}

envelope workload::next_queued() {
    envelope what = std::move(queued_.front());
    queued_.pop_front();
    what.now = now_;
    return what;
}

// Most steps go to a few ids at a time, so that they get a history.
const record_id& workload::pick_id() {
    const auto& ids = confusable_ids();
    if (steps_ % 250 == 0) hot_ = below(ids.size());
    const std::size_t at = chance(85) ? hot_ + below(5) : below(ids.size());
    return ids[at % ids.size()];
}

void workload::move_time(const known& it) {
    constexpr time_point middle{seconds{2'000'000'000}};
    constexpr duration far = hours{24 * 40};
    const auto& now = it.possible.front();
    const auto roll = below(100);
    if (roll < 30 && now) {
        const auto points = turning_points(*now);
        const auto offset = static_cast<duration::rep>(below(3)) - 1;
        const time_point there = points[below(points.size())] + microseconds{offset};
        if (there > middle - far && there < middle + far) now_ = there;
    } else if (roll < 35) {
        now_ += microseconds{below(2ULL * 24 * 3600 * 1'000'000)};
    } else if (roll < 40) {
        now_ -= microseconds{below(2ULL * 24 * 3600 * 1'000'000)};
    } else {
        now_ += microseconds{below(20'000)};
    }
    if (now_ < middle - far || now_ > middle + far) now_ = middle;
}

command workload::pick_command(const known& it) {
    const auto roll = below(100);
    if (roll < 32) return begin();
    if (roll < 46) {
        return commands::complete{.by = pick_claim(it),
                                  .result = result(),
                                  .retention = one_of<duration>(
                                      {{}, microseconds{1}, milliseconds{5}, hours{1}, hours{90}})};
    }
    if (roll < 60) {
        return commands::fail{
            .by = pick_claim(it),
            .kind = chance(70) ? commands::failure_kind::retryable : commands::failure_kind::final,
            .error = body(limits{}.error_bytes_max),
            .retry_after = one_of<duration>({{}, milliseconds{10}, minutes{1}}),
            .retention = one_of<duration>({{}, seconds{1}, hours{24}, hours{72}})};
    }
    if (roll < 64) return release(it);
    if (roll < 69) return commands::abandon{.by = pick_claim(it)};
    if (roll < 76) {
        return commands::renew{.by = pick_claim(it),
                               .lease = one_of<duration>({milliseconds{1}, seconds{5}, hours{2}})};
    }
    if (roll < 82) {
        const std::string names[]{"step",         "STEP", "step ", "st\xC3\xA9p",
                                  "ste\xCC\x81p", "s\0"s, ""};
        return commands::checkpoint{.by = pick_claim(it),
                                    .step = {.name = names[below(std::size(names))],
                                             .data = body(limits{}.checkpoint_bytes_max)}};
    }
    if (roll < 88) return resolve(it);
    if (roll < 90) return commands::remove{.actor = "anna", .reason = body(200)};
    if (roll < 95) return commands::purge{};
    return commands::lookup{};
}

commands::begin workload::begin() {
    constexpr lease_expiry expiries[]{lease_expiry::retry, lease_expiry::retry, lease_expiry::hold,
                                      lease_expiry::probe};
    commands::begin what{
        .owner = {.high = random_(), .low = random_()},
        .lease = one_of<duration>({microseconds{1}, milliseconds{5}, seconds{1}, seconds{30}}),
        .policy = {.on_lease_expiry = one_of(expiries),
                   .attempts_max = one_of<std::uint32_t>({1, 2, 3, 100}),
                   .grace = one_of<duration>({{}, milliseconds{1}, milliseconds{250}}),
                   .processing_max = one_of<duration>({seconds{1}, minutes{1}, hours{24}})},
        .mismatch = chance(15) ? on_mismatch::overwrite : on_mismatch::refuse};
    if (chance(80)) what.content = content(chance(75) ? 0xAA : 0xAB);
    if (chance(30)) what.attributes = "{\"caf\xC3\xA9\":" + std::to_string(random_()) + "}";
    if (chance(2))
        what.attributes = "\"" + std::string(limits{}.attributes_bytes_max - 2, 'a') + "\"";
    return what;
}

commands::release workload::release(const known& it) {
    if (chance(50)) return {.by = pick_claim(it)};
    return chance(85) ? it.undo
                      : commands::release{.by = pick_claim(it), .replaced = it.undo.replaced};
}

commands::resolve workload::resolve(const known& it) {
    commands::resolve what{.expected_fence = pick_claim(it).fence,
                           .retention = one_of<duration>({{}, seconds{1}, hours{48}}),
                           .actor = "j\xC3\xB8rn",
                           .reason = body(200)};
    switch (below(3)) {
    case 0: what.verdict = commands::resolve::committed{.result = result()}; break;
    case 1: what.verdict = commands::resolve::not_executed{}; break;
    default: what.verdict = commands::resolve::failed{.error = body(500)};
    }
    return what;
}

claim workload::pick_claim(const known& it) {
    const auto& now = it.possible.front();
    const claim current = now ? now->holder : claim{};
    const auto roll = below(100);
    if (roll < 70) return current;
    if (roll < 82 && !it.claims.empty()) return it.claims[below(it.claims.size())];
    if (roll < 86) return {.fence = current.fence, .owner = {.high = random_(), .low = random_()}};
    if (roll < 90) return {.fence = current.fence + 1, .owner = current.owner};
    if (roll < 93) return {.fence = 0, .owner = current.owner};
    if (roll < 96) return {.fence = current.fence, .owner = {}};
    // The halves of the owner in the wrong places.
    return {.fence = current.fence,
            .owner = {.high = current.owner.low, .low = current.owner.high}};
}

stored_result workload::result() {
    stored_result it{.kind = one_of({result_kind::value, result_kind::value, result_kind::rejection,
                                     result_kind::tombstone}),
                     .body = body(limits{}.result_bytes_max),
                     .type =
                         one_of<const char*>({"", "application/json", "x; charset=\"\xC3\xA9\""}),
                     .ref = chance(50) ? "ord_" + std::to_string(below(1'000)) : ""};
    seal(it);
    return it;
}

// The port stores what it is given, so one more than the engine's limit is as good as the limit.
std::string workload::body(std::size_t limit) {
    const auto roll = below(1'000);
    const std::uint64_t rare = limit <= 8'192 ? 50 : 1; // of a thousand
    if (roll < rare) return std::string(limit, 'x');
    if (roll < 2 * rare) return std::string(limit + 1, '\xFF');
    if (roll < 150) return {};
    if (roll < 250) return "x";
    if (roll < 600) {
        return one_of<const char*>({"null", "false", "0", "\"\"", "{}", "[]", "-0.0", "NaN", "''"});
    }
    if (roll < 700) return all_bytes().substr(0, std::min<std::size_t>(limit, 256));
    std::string bytes(below(std::min<std::size_t>(limit, 2'000)), '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random_());
    return bytes;
}

// One more than there may be.
void workload::queue_checkpoints(const record_id& id, const claim& by) {
    for (std::size_t i = 0; i <= limits{}.checkpoints_max; ++i) {
        const semel::checkpoint one{.name = "queued " + std::to_string(i), .data = body(64)};
        queued_.push_back({.id = id, .what = commands::checkpoint{.by = by, .step = one}});
    }
    const semel::checkpoint repeated{.name = "queued 0", .data = "other"};
    queued_.push_back({.id = id, .what = commands::checkpoint{.by = by, .step = repeated}});
    queued_.push_back({.id = id, .what = commands::lookup{}});
}

} // namespace semel::conformance
