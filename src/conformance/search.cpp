#include "conformance/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "conformance/helpers.hpp"
#include "conformance/suite.hpp"
#include "conformance/text.hpp"
#include "conformance/workload.hpp"

namespace semel::conformance {

namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// When the searches take place. Leases are over by then, or an hour later, or have just ended.
constexpr time_point asked_at = day_one + hours{24};

// Puts random records into a store, one an hour or so, in every state.
class filler {
public:
    filler(store& whom, std::uint64_t seed) : store_(whom), random_(seed) {}

    void fill(const record_id& id, std::uint64_t owner) {
        const time_point begun = day_one + minutes{random_() % (24 * 60)};
        commands::begin claim = begin_of(owner);
        claim.lease = std::chrono::minutes{1 + random_() % (36 * 60)};
        claim.attributes = "{\"n\":" + std::to_string(owner) + "}";
        claim.policy.on_lease_expiry = static_cast<lease_expiry>(random_() % 3);
        const answer got = ask(store_, id, claim, begun);
        ASSERT_TRUE(is<answers::started>(got)) << text(got);
        end(id, std::get<answers::started>(got).by, begun + seconds{1});
    }

private:
    void end(const record_id& id, const claim& by, time_point now) {
        const duration retention = hours{12 + random_() % 36}; // some have expired when asked
        using kind = commands::failure_kind;
        switch (random_() % 6) {
        case 0: break;
        case 1: (void)ask(store_, id, commands::abandon{.by = by}, now); break;
        case 2: {
            const checkpoint step{.name = "paid", .data = "yes"};
            (void)ask(store_, id, commands::checkpoint{.by = by, .step = step}, now);
            break;
        }
        case 3:
            (void)ask(store_, id,
                      commands::fail{.by = by,
                                     .kind = random_() % 2 == 0 ? kind::retryable : kind::final,
                                     .error = "no",
                                     .retention = retention},
                      now);
            break;
        default: {
            stored_result made = result_of("body of " + id.key);
            made.ref = "ref " + std::to_string(random_() % 4);
            (void)ask(store_, id,
                      commands::complete{.by = by, .result = made, .retention = retention}, now);
        }
        }
    }

    store& store_;
    std::mt19937_64 random_;
};

std::vector<record_id> searched_ids() {
    std::vector<record_id> ids = confusable_ids();
    for (const auto* tenant : {"acme", "zeta"}) {
        for (const auto* operation : {"ORDER", "PAY", "\xFF\xFF"}) {
            for (int i = 0; i < 5; ++i) {
                ids.push_back({tenant, operation, "number " + std::to_string(i)});
            }
        }
    }
    return ids;
}

struct named_query {
    std::string name;
    record_query what;
};

std::vector<named_query> queries() {
    using state = record_state;
    const time_point noon = day_one + hours{12};
    return {
        {"everything", {}},
        {"everything with results", {.results = result_bodies::included}},
        {"a tenant", {.tenant = "acme"}},
        {"a tenant and an operation", {.tenant = "acme", .operation = "ORDER"}},
        {"the highest operation of a tenant", {.tenant = "zeta", .operation = "\xFF\xFF"}},
        {"one id", {.tenant = "acme", .operation = "ORDER", .key = "Key"}},
        {"an id that is not there", {.tenant = "acme", .operation = "ORDER", .key = "none"}},
        {"an operation", {.operation = "PAY"}},
        {"a key", {.key = "number 3"}},
        {"a tenant that is not there", {.tenant = "acm"}},
        {"succeeded", {.states = {state::succeeded}}},
        {"failed", {.states = {state::failed_retryable, state::failed_final}}},
        {"processing of a tenant", {.tenant = "acme", .states = {state::processing}}},
        {"a reference", {.result_ref = "ref 1"}},
        {"a reference of a tenant", {.tenant = "acme", .result_ref = "ref 2"}},
        {"a reference that is not there", {.result_ref = "ref"}},
        {"lapsed", {.stuck_for = duration::zero()}},
        {"stuck for hours", {.stuck_for = hours{3}}},
        {"stuck of an operation", {.operation = "ORDER", .stuck_for = minutes{5}}},
        {"created in the morning", {.created_until = noon}},
        {"created in an hour", {.created_from = noon, .created_until = noon + hours{1}}},
    };
}

using found_map = std::map<record_id, std::vector<record>>;

// All pages of a query. A store that never ends is stopped.
found_map all_pages(store& whom, record_query query, std::string& wrong) {
    found_map found;
    for (int pages = 0; pages < 10'000; ++pages) {
        const record_page page = whom.search(query).value();
        if (page.records.size() > query.records_max) wrong = "a page has too many records";
        for (const auto& one : page.records) found[one.id].push_back(one.it);
        query.cursor = page.cursor;
        if (query.cursor.empty()) return found;
    }
    wrong = "the pages do not end";
    return found;
}

std::string describe(const found_map& all) {
    std::string made;
    for (const auto& [id, its] : all) {
        for (const auto& it : its) made += "  " + text(id) + " " + text(it) + "\n";
    }
    return made;
}

std::optional<std::string> compare(store& whom, const subject& what, const record_query& query,
                                   const std::map<record_id, record>& model) {
    found_map expected;
    for (const auto& [id, it] : model) {
        if (matches(query, id, it, *query.now)) expected[id] = {shown(it, query.results)};
    }
    std::string wrong;
    found_map found = all_pages(whom, query, wrong);
    if (what.pages == finding::at_least_once) {
        for (auto& [id, its] : found) its.erase(std::unique(its.begin(), its.end()), its.end());
    }
    if (wrong.empty() && found == expected) return std::nullopt;
    return wrong + "\nexpected:\n" + describe(expected) + "found:\n" + describe(found);
}

void searches_find_what_matches_exactly_once(const subject& what, const run_options& how) {
    const auto wrong = search_difference(what, how.seed);
    EXPECT_FALSE(wrong) << *wrong;
}

void searches_judge_by_the_stores_own_clock(const subject& what, const run_options&) {
    const opened fresh = open_fresh(what);
    must_start(*fresh.it, id_of("of another day"), 1, day_one);
    (void)fresh->call(id_of("running"), begin_of(1)).value();
    const auto count = [&](const record_query& query) {
        std::string wrong;
        return all_pages(*fresh.it, query, wrong).size();
    };

    EXPECT_EQ(count({.tenant = "acme", .operation = "ORDER_CREATE", .key = "running"}), 1U);
    EXPECT_EQ(count({.stuck_for = duration::zero()}), 0U);
    EXPECT_EQ(count({.stuck_for = duration::zero(), .now = day_one}), 1U);
}

void searches_refuse_what_cannot_be_meant(const subject& what, const run_options&) {
    const opened fresh = open_fresh(what);
    must_start(*fresh.it, id_of("one"), 1, day_one);
    const record_query wrong[]{{.records_max = 0},
                               {.records_max = 1'001},
                               {.results = result_bodies::included, .records_max = 101},
                               {.result_ref = ""},
                               {.stuck_for = -seconds{1}},
                               {.cursor = "not a cursor"},
                               {.cursor = "no-t a-cursor"}};

    for (const auto& one : wrong) {
        const auto got = fresh->search(one);
        ASSERT_FALSE(got) << one.records_max << " " << one.cursor;
        EXPECT_EQ(got.error().code, errc::invalid_argument);
        EXPECT_EQ(got.error().possible, effect::none);
    }
}

constexpr named_test tests[]{
    {"SearchesFindWhatMatchesExactlyOnce", searches_find_what_matches_exactly_once},
    {"SearchesJudgeByTheStoresOwnClock", searches_judge_by_the_stores_own_clock},
    {"SearchesRefuseWhatCannotBeMeant", searches_refuse_what_cannot_be_meant},
};

} // namespace

std::optional<std::string> search_difference(const subject& what, std::uint64_t seed) {
    const opened fresh = open_fresh(what);
    filler records{*fresh.it, seed};
    std::map<record_id, record> model;
    std::uint64_t owner = 0;
    for (const auto& id : searched_ids()) {
        records.fill(id, ++owner);
        const answer got = ask(*fresh.it, id, commands::lookup{}, asked_at);
        const auto& current = std::get<answers::found>(got).current;
        if (current) model[id] = *current;
    }
    for (const auto& [name, query] : queries()) {
        for (const std::size_t size : {std::size_t{1}, std::size_t{3}, page_max(query.results)}) {
            record_query asked = query;
            asked.records_max = size;
            asked.now = asked_at;
            const auto wrong = compare(*fresh.it, what, asked, model);
            if (wrong) {
                return "store " + what.name + ", seed " + std::to_string(seed) + ": " + name +
                       ", pages of " + std::to_string(size) + ": " + *wrong;
            }
        }
    }
    return std::nullopt;
}

std::span<const named_test> search_tests() {
    return tests;
}

} // namespace semel::conformance
