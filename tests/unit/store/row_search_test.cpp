#include "store/row_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "store/search_cursor.hpp"

namespace semel {
namespace {

// Rows as a table would give them, and what was asked for.
struct table {
    result<record_page> search(const record_query& query) {
        return search_rows(query, [&](const row_request& which) {
            asked.push_back(which);
            if (which.by == row_request::path::stuck) return by_leases(which);
            rows_read found;
            for (auto at = rows.lower_bound(which.from);
                 at != rows.end() && at->first < which.until && found.rows.size() < which.most;
                 ++at) {
                found.rows.push_back({.id = at->first, .it = at->second});
            }
            return result<rows_read>{found};
        });
    }

    result<rows_read> by_leases(const row_request& which) const {
        std::map<lease_place, record> sorted;
        for (const auto& [id, it] : rows) {
            sorted[{.lease_until = it.lease_until, .id = id}] = it;
        }
        rows_read found{.now = now};
        for (auto at = sorted.lower_bound({.lease_until = which.leases_from, .id = which.from});
             at != sorted.end() && found.rows.size() < which.most; ++at) {
            found.rows.push_back({.id = at->first.id, .it = at->second});
        }
        return found;
    }

    void fill(int count) {
        for (int i = 0; i < count; ++i) rows[{"acme", "ORDER", std::to_string(i)}] = record{};
    }

    static constexpr time_point now{std::chrono::hours{1}};
    std::map<record_id, record> rows;
    std::vector<row_request> asked;
};

TEST(RowSearch, ReadsNoMoreRowsThanThePageHas) {
    table all;
    all.fill(100);

    const auto page = all.search({.records_max = 10}).value();

    EXPECT_EQ(page.records.size(), 10U);
    ASSERT_EQ(all.asked.size(), 1U);
    EXPECT_EQ(all.asked.front().most, 10U);
}

TEST(RowSearch, LooksAtABoundedNumberOfRowsAndGoesOnFromThere) {
    table all;
    all.fill(20'000);
    all.rows[{"zeta", "ORDER", "last"}] = record{.attempts = 7};
    record_query query{.key = "last"};

    const auto first = all.search(query).value();
    query.cursor = first.cursor;
    const auto reads = all.asked.size();
    (void)all.search(query).value();
    std::size_t found = 0;
    query.cursor.clear();
    do {
        const auto page = all.search(query).value();
        found += page.records.size();
        query.cursor = page.cursor;
    } while (!query.cursor.empty());

    EXPECT_TRUE(first.records.empty());
    EXPECT_EQ(reads, 10U);
    EXPECT_GT(all.asked[reads].from, all.asked[reads - 1].from);
    EXPECT_EQ(found, 1U);
}

TEST(RowSearch, ReadsOnlyBetweenTheIdsThatTheQueryAllows) {
    table all;

    (void)all.search({.tenant = "a"}).value();
    (void)all.search({.tenant = "a", .operation = "b"}).value();
    (void)all.search({.tenant = "a", .operation = "b", .key = "c"}).value();
    (void)all.search({.operation = "b"}).value();

    using namespace std::string_literals;
    EXPECT_EQ(all.asked[0].from, (record_id{"a", "", ""}));
    EXPECT_EQ(all.asked[0].until, (record_id{"a\0"s, "", ""}));
    EXPECT_EQ(all.asked[1].from, (record_id{"a", "b", ""}));
    EXPECT_EQ(all.asked[1].until, (record_id{"a", "b\0"s, ""}));
    EXPECT_EQ(all.asked[2].from, (record_id{"a", "b", "c"}));
    EXPECT_EQ(all.asked[2].until, (record_id{"a", "b", "c\0"s}));
    EXPECT_EQ(all.asked[3].from, record_id{});
    EXPECT_GT(all.asked[3].until, (record_id{std::string(255, '\xff'), "", ""}));
}

TEST(RowSearch, GoesByTheIndexThatLeavesTheFewest) {
    using path = row_request::path;
    table all;

    (void)all.search({.tenant = "a"}).value();
    (void)all.search({.stuck_for = duration{1}}).value();
    (void)all.search({.result_ref = "o-1", .stuck_for = duration{1}}).value();
    (void)all.search({.states = {record_state::failed_final}}).value();
    (void)all.search({.states = {record_state::failed_final, record_state::succeeded}}).value();

    EXPECT_EQ(all.asked[0].by, path::ids);
    EXPECT_EQ(all.asked[1].by, path::stuck);
    EXPECT_EQ(all.asked[2].by, path::result_ref);
    EXPECT_EQ(all.asked[3].by, path::failed);
    EXPECT_EQ(all.asked[4].by, path::ids);
}

TEST(RowSearch, LeafsThroughStuckRecordsInTheOrderOfTheirLeases) {
    table all;
    for (int i = 0; i < 100; ++i) {
        const time_point lease{duration{(100 - i) / 7}}; // seven end at the same time
        all.rows[{"acme", "ORDER", std::to_string(i)}] = record{.lease_until = lease};
    }
    record_query query{.stuck_for = duration{1}, .records_max = 10};

    std::vector<lease_place> found;
    do {
        const auto page = all.search(query).value();
        for (const auto& one : page.records) {
            found.push_back({.lease_until = one.it.lease_until, .id = one.id});
        }
        query.cursor = page.cursor;
    } while (!query.cursor.empty());

    EXPECT_EQ(found.size(), 100U);
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end(), std::less_equal<>{}))
        << "none comes twice";
    EXPECT_EQ(all.asked.front().leases_from, time_point::min());
    EXPECT_EQ(all.asked.size(), 11U) << "no more is read than is shown";
}

TEST(RowSearch, CursorOfAnotherKindOfSearchIsRefused) {
    table all;
    const auto ids = all.search({.cursor = cursor_of(lease_place{.id = {"acme", "", ""}})});
    const auto leases = all.search({.stuck_for = duration{1}, .cursor = cursor_of(record_id{})});

    ASSERT_FALSE(ids);
    EXPECT_EQ(ids.error().code, errc::invalid_argument);
    ASSERT_FALSE(leases);
    EXPECT_EQ(leases.error().code, errc::invalid_argument);
}

TEST(RowSearch, CursorOfAnotherTenantLeadsNowhereElse) {
    table all;
    all.rows[{"acme", "ORDER", "k"}] = record{};
    all.rows[{"beta", "ORDER", "k"}] = record{};

    const auto page =
        all.search({.tenant = "beta", .cursor = cursor_of({"acme", "ORDER", ""})}).value();

    ASSERT_EQ(page.records.size(), 1U);
    EXPECT_EQ(page.records[0].id.tenant, "beta");
}

TEST(SearchCursor, CarriesEveryByteOfAnId) {
    using namespace std::string_literals;
    for (const record_id& id : {record_id{}, record_id{"a.b", "\0\xff"s, "-"}}) {
        EXPECT_EQ(id_in_cursor(cursor_of(id)).value(), id);
    }
}

TEST(SearchCursor, CarriesAPlaceAmongLeases) {
    for (const auto time : {time_point::min(), time_point{duration{-1}}, time_point::max()}) {
        const lease_place place{.lease_until = time, .id = {"a.b", "c", "\xff"}};
        EXPECT_EQ(place_in_cursor(cursor_of(place)).value(), place);
    }
    for (const char* text : {"", "61.61.61", ".61.61.61", "+1.61.61.61", "01.61.61.61",
                             "99999999999999999999.61.61.61", "1.61.61"}) {
        EXPECT_FALSE(place_in_cursor(text)) << text;
    }
}

TEST(SearchCursor, AnythingElseIsRefused) {
    for (const char* text : {"", "..61.", "6", "zz..", "61.61", "AB..", "61.61.61 "}) {
        const auto got = id_in_cursor(text);
        ASSERT_FALSE(got) << text;
        EXPECT_EQ(got.error().code, errc::invalid_argument);
    }
}

} // namespace
} // namespace semel
