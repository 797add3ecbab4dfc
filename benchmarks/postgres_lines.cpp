#include "postgres_lines.hpp"

#include <optional>
#include <string>

namespace semel::bench {

namespace {

using rates = postgres_rates;
using lines = std::vector<line<rates>>;

constexpr const char* insert_update = "pgbench, insert and update, 32 clients";
constexpr const char* look_ups = "pgbench, look-ups, 32 clients";
constexpr const char* same_shape = "pgbench, same statements in the same shape";
constexpr const char* bare = "its bare statements";

lines of_leases() {
    return {
        {"postgres first, 256 in flight", insert_update, at_least(4), &rates::in_flight,
         &rates::two_commits},
        {"postgres first, 64 callers", insert_update, at_least(2.5), &rates::many,
         &rates::two_commits},
        {"postgres first, 256 in flight, raw", "bare statements of 128 rows, 2 connections",
         at_least(0.6), &rates::in_flight, &rates::bare_groups},
        {"postgres replay, 256 in flight", look_ups, at_least(2), &rates::replay_in_flight,
         &rates::look_up},
        {"postgres replay, 64 callers", look_ups, {}, &rates::replay_many, &rates::look_up},
    };
}

// A way to have 32 transactions at a time, and pgbench in the same shape.
struct form {
    const char* name;
    double rates::*semel;
    double rates::*shape;
    enum class held { to_bars, to_none } how;
};

const std::vector<form>& forms() {
    using held = form::held;
    static const std::vector<form> all{
        // Callers share two threads, as the connections of pgbench do, and 16 connections.
        {"transact, 32 callers", &rates::pooled_many, &rates::pooled_shape_many, held::to_bars},
        {"queued, 32 callers", &rates::pooled_queued_many, &rates::pooled_queued_shape_many,
         held::to_bars},
        // Each has a connection of its own. PostgreSQL itself does not reach the bars then.
        {"transact, 32 connections", &rates::transact_many, &rates::shape_many, held::to_none},
        {"queued, 32 connections", &rates::queued_many, &rates::queued_shape_many, held::to_none},
        {"transact, 32 threads", &rates::transact_threads, &rates::shape_many, held::to_none},
        {"queued, 32 threads", &rates::queued_threads, &rates::queued_shape_many, held::to_none},
    };
    return all;
}

// Against pgbench, against no record, against one that is written twice.
void add_form(lines& to, const form& one) {
    const std::string name = std::string{"postgres "} + one.name;
    const auto held = [&](double ratio) {
        return one.how == form::held::to_bars ? std::optional{at_least(ratio)} : std::nullopt;
    };
    to.push_back({name, same_shape, held(0.9), one.semel, one.shape});
    to.push_back({name + ", no record", "pgbench, BEGIN, INSERT, COMMIT", held(0.6), one.semel,
                  &rates::order});
    to.push_back({name + ", two writes", "pgbench, insert, order, update", held(1.2), one.semel,
                  &rates::claim_update});
}

lines of_lone_callers() {
    return {
        {"postgres transact, lone caller", same_shape, at_least(0.8), &rates::transact_lone,
         &rates::shape_lone},
        {"postgres first, lone caller", bare, at_least(0.8), &rates::lone, &rates::bare_lone},
        {"postgres replay, lone caller", bare, at_least(0.8), &rates::replay_lone,
         &rates::bare_replay},
    };
}

} // namespace

std::vector<line<postgres_rates>> postgres_lines() {
    lines all = of_leases();
    for (const auto& one : forms()) add_form(all, one);
    for (const auto& one : of_lone_callers()) all.push_back(one);
    return all;
}

} // namespace semel::bench
