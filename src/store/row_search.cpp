#include "store/row_search.hpp"

#include <algorithm>
#include <utility>

#include "store/search_cursor.hpp"

namespace semel {

namespace {

// After the first read, which is as large as the page. Times ten is what a page costs at most.
constexpr std::size_t reads_max = 10;

// The lowest id above this one.
record_id next_after(record_id id) {
    id.key += '\0';
    return id;
}

// The lowest id above those that the query's parts allow.
record_id end_of(const record_query& query) {
    // Above every id, since no tenant is that long.
    if (!query.tenant) return {std::string(2'048, '\xff'), {}, {}};
    if (!query.operation) return {*query.tenant + '\0', {}, {}};
    if (!query.key) return {*query.tenant, *query.operation + '\0', {}};
    return next_after({*query.tenant, *query.operation, *query.key});
}

record_id begin_of(const record_query& query) {
    record_id id;
    if (!query.tenant) return id;
    id.tenant = *query.tenant;
    if (!query.operation) return id;
    id.operation = *query.operation;
    if (query.key) id.key = *query.key;
    return id;
}

bool only_failed(const record_query& query) {
    return !query.states.empty() &&
           std::all_of(query.states.begin(), query.states.end(), [](record_state one) {
               return one == record_state::failed_retryable || one == record_state::failed_final;
           });
}

row_request::path path_of(const record_query& query) {
    if (query.result_ref) return row_request::path::result_ref;
    if (query.stuck_for) return row_request::path::stuck;
    return only_failed(query) ? row_request::path::failed : row_request::path::ids;
}

result<row_request> first_by_leases(const record_query& query) {
    row_request made{.by = row_request::path::stuck, .most = query.records_max};
    if (query.cursor.empty()) return made;
    auto from = place_in_cursor(query.cursor);
    if (!from) return std::move(from).error();
    made.leases_from = from->lease_until;
    made.from = std::move(from->id);
    return made;
}

result<row_request> first_by_ids(const record_query& query, row_request::path by) {
    row_request made{
        .by = by, .from = begin_of(query), .until = end_of(query), .most = query.records_max};
    if (query.cursor.empty()) return made;
    auto from = id_in_cursor(query.cursor);
    if (!from) return std::move(from).error();
    made.from = std::max(made.from, *std::move(from));
    return made;
}

result<row_request> first_request(const record_query& query) {
    if (auto sound = check(query); !sound) return std::move(sound).error();
    const auto by = path_of(query);
    return by == row_request::path::stuck ? first_by_leases(query) : first_by_ids(query, by);
}

std::string cursor_at(const row_request& next) {
    if (next.by != row_request::path::stuck) return cursor_of(next.from);
    return cursor_of(lease_place{.lease_until = next.leases_from, .id = next.from});
}

} // namespace

result<record_page> search_rows(const record_query& query, const row_reading& read) {
    auto request = first_request(query);
    if (!request) return std::move(request).error();
    record_page page;
    for (std::size_t reads = 0; reads < reads_max; ++reads) {
        auto got = read(*request);
        if (!got) return std::move(got).error();
        const bool last = got->rows.size() < request->most;
        for (auto& row : got->rows) {
            request->from = next_after(row.id);
            request->leases_from = row.it.lease_until;
            if (!matches(query, row.id, row.it, got->now)) continue;
            row.it = shown(std::move(row.it), query.results);
            page.records.push_back(std::move(row));
            if (page.records.size() == query.records_max) break;
        }
        const bool full = page.records.size() == query.records_max;
        if (last && !full) return page;
        if (full) break;
        request->most = page_max(query.results);
    }
    page.cursor = cursor_at(*request);
    return page;
}

} // namespace semel
