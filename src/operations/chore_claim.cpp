#include "operations/chore_claim.hpp"

#include <limits>
#include <utility>

#include "base/process_random.hpp"

namespace semel {
namespace {

// How long the claim remembers the number of attempts after the last one.
constexpr duration memory = std::chrono::hours{24 * 7};

void append_sized(std::string& to, std::string_view part) {
    to += std::to_string(part.size()) + ":";
    to += part;
}

owner_id new_owner() {
    return {.high = process_random(), .low = process_random() | 1}; // all zero means no owner
}

} // namespace

record_id chore_id(std::string_view chore, const found_record& about) {
    std::string text;
    for (const std::string* part : {&about.id.tenant, &about.id.operation, &about.id.key}) {
        append_sized(text, *part);
    }
    append_sized(text, std::to_string(about.it.holder.fence));
    return {.tenant = std::string{chore_tenant},
            .operation = std::string{chore_operation},
            .key = std::string{chore} + "/" + fingerprint::raw(text).hex()};
}

result<bool> chore_claim::take(duration lease) {
    // However often it takes: a question has no last attempt.
    const record_policy policy{.attempts_max = std::numeric_limits<std::uint32_t>::max()};
    auto got = records_.call(
        id_, commands::begin{.owner = new_owner(), .lease = lease, .policy = policy}, now_);
    if (!got) return std::move(got).error();
    const auto* started = std::get_if<answers::started>(&got->said);
    if (started == nullptr) return false;
    by_ = started->by;
    attempt_ = started->attempt;
    return true;
}

result<void> chore_claim::done_for(duration retention) {
    stored_result nothing;
    seal(nothing);
    return end(commands::complete{.by = by_, .result = std::move(nothing), .retention = retention});
}

result<void> chore_claim::again_after(duration delay) {
    return end(commands::fail{
        .by = by_, .error = "not known yet", .retry_after = delay, .retention = memory + delay});
}

result<void> chore_claim::give_up() {
    return end(commands::release{.by = by_});
}

// A fenced-off claim is no error: the claim's new holder goes on.
result<void> chore_claim::end(command how) {
    auto got = records_.call(id_, std::move(how), now_);
    if (!got) return std::move(got).error();
    return {};
}

} // namespace semel
