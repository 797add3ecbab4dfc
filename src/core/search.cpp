#include "semel/core/search.hpp"

#include <algorithm>
#include <utility>

#include "semel/core/record_machine.hpp"

namespace semel {

namespace {

template <class T> bool fits(const std::optional<T>& wanted, const T& is) {
    return !wanted || *wanted == is;
}

bool fits(const std::vector<record_state>& wanted, record_state is) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), is) != wanted.end();
}

failure refused(std::string detail) {
    return {.code = errc::invalid_argument,
            .possible = effect::none,
            .detail = "search: " + std::move(detail)};
}

} // namespace

bool matches(const record_query& query, const record_id& id, const record& it, time_point now) {
    if (visible(&it, now) == nullptr) return false;
    return fits(query.tenant, id.tenant) && fits(query.operation, id.operation) &&
           fits(query.key, id.key) && fits(query.states, it.state) &&
           fits(query.result_ref, it.result.ref) &&
           (!query.stuck_for || lapsed(it, now - *query.stuck_for)) &&
           (!query.created_from || it.created_at >= *query.created_from) &&
           (!query.created_until || it.created_at < *query.created_until);
}

result<void> check(const record_query& query) {
    const std::size_t most = page_max(query.results);
    if (query.records_max == 0 || query.records_max > most) {
        return refused("records_max must be 1 to " + std::to_string(most));
    }
    if (query.result_ref && query.result_ref->empty()) return refused("result_ref is empty");
    if (query.stuck_for && *query.stuck_for < duration::zero()) {
        return refused("stuck_for is negative");
    }
    return {};
}

record shown(record&& it, result_bodies results) {
    it.checkpoints.clear();
    if (results == result_bodies::left_out) {
        it.result.body.clear();
        it.result.checksum = 0;
    }
    return std::move(it);
}

// Not copied first: what is left out may be large.
record shown(const record& it, result_bodies results) {
    const bool all = results == result_bodies::included;
    return {.state = it.state,
            .policy = it.policy,
            .content = it.content,
            .holder = it.holder,
            .attempts = it.attempts,
            .lease_until = it.lease_until,
            .begun_at = it.begun_at,
            .retry_after = it.retry_after,
            .result = {.kind = it.result.kind,
                       .body = all ? it.result.body : std::string{},
                       .type = it.result.type,
                       .ref = it.result.ref,
                       .checksum = all ? it.result.checksum : 0},
            .error = it.error,
            .attributes = it.attributes,
            .created_at = it.created_at,
            .updated_at = it.updated_at,
            .expires_at = it.expires_at};
}

} // namespace semel
