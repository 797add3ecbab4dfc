#include "sim/answer_checker.hpp"

#include <algorithm>

namespace semel::sim {

void answer_checker::fail(const char* property, const call& of, const std::string& text) {
    scene_.fail(property, text_of(of.id) + " call " + std::to_string(of.serial) + ": " + text);
}

void answer_checker::on_answer(const call& of, const raw_outcome& with) {
    if (of.ended) return fail("L1", of, "answered twice");
    switch (with.kind) {
    case outcome_kind::executed: return on_executed(of, with);
    case outcome_kind::replayed: return on_replayed(of, with);
    case outcome_kind::mismatch:
        if (!of.content) fail("S7", of, "a mismatch without content");
        return;
    case outcome_kind::failed:
        // S6: an error is a body too; it must come from work on this very record.
        if (!ghost_.keys[of.id].errors.contains(with.error)) {
            fail("S6", of, "failed with an error of another record: " + with.error);
        }
        if (!of.work_begun && of.waits && !with.expires_at) {
            scene_.seen.saw(rare::shared_failure);
        }
        return;
    case outcome_kind::unconfirmed: return scene_.seen.saw(rare::unconfirmed);
    case outcome_kind::unavailable:
        if (with.why && with.why->code == errc::corrupt) {
            scene_.seen.saw(rare::corrupt_answer);
            const auto& results = ghost_.keys[of.id].results;
            const bool known = std::any_of(results.begin(), results.end(),
                                           [](const auto& one) { return one.second.damaged; });
            if (!known) fail("S15", of, "a sound result was called corrupt");
        }
        return;
    case outcome_kind::in_progress: return on_in_progress(of);
    case outcome_kind::in_doubt: return;
    }
}

// S17: who has waited hears that it is in progress only if it has been so since the question. A
// caller that does not wait may be told by the lease alone.
void answer_checker::on_in_progress(const call& of) {
    if (!of.waits || of.work_begun) return;
    const auto& busy_at = ghost_.keys[of.id].busy_at;
    if (!busy_at || *busy_at < of.begun) fail("S17", of, "in progress, and no attempt is at it");
}

// S4 and S8: "executed" is said by the attempt that the database knows as the one that finished.
void answer_checker::on_executed(const call& of, const raw_outcome& with) {
    if (!of.work_begun) return fail("S8", of, "executed, but its work never ran");
    const auto& results = ghost_.keys[of.id].results;
    const auto known = results.find(with.by.fence);
    if (with.by.fence != of.fence) return fail("S4", of, "executed with a fence not its own");
    if (known == results.end()) return fail("S4", of, "executed, but nothing was stored by it");
    const bool kept = known->second.result.kind != result_kind::tombstone;
    if (kept && known->second.result.body != of.body) fail("S5", of, "stored other bytes");
}

void answer_checker::on_replayed(const call& of, const raw_outcome& with) {
    const auto& results = ghost_.keys[of.id].results;
    const auto known = results.find(with.by.fence);
    if (known == results.end()) return fail("S8", of, "replayed what is not stored");
    const stored_result& stored = known->second.result;
    const bool equal = stored.kind == with.result.kind && stored.body == with.result.body &&
                       stored.type == with.result.type && stored.ref == with.result.ref;
    if (!equal) {
        return fail(known->second.damaged ? "S15" : "S5", of, "two answers that differ");
    }
    const std::string named = text_of(of.id) + "|";
    if (!stored.body.empty() && stored.body.rfind(named, 0) != 0) {
        return fail("S6", of, "the result of another record");
    }
    if (of.content && known->second.content && *of.content != *known->second.content) {
        return fail("S7", of, "the result of other content");
    }
    check_wait(of, with.by.fence, known->second);
}

// L4: a waiter hears of it within one poll and one round trip, also where no wake-up reaches it.
void answer_checker::check_wait(const call& of, std::uint64_t fence, const result_seen& known) {
    if (known.at <= of.begun || of.work_begun) return;
    const auto& claims = ghost_.keys[of.id].claims;
    const auto made_by = claims.find(fence);
    if (made_by != claims.end() && made_by->second.where != of.where) {
        scene_.seen.saw(rare::polled_result);
    }
    if (!calm_from_ || of.begun < *calm_from_) return;
    const duration waited = scene_.loop.now() - known.at;
    constexpr duration poll_and_round_trip = std::chrono::milliseconds{400};
    if (waited > poll_and_round_trip) fail("L4", of, "waited " + text_of(waited) + " too long");
}

} // namespace semel::sim
