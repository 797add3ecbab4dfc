// Operators and housekeeping on a million records: how long a page and a batch take, and what they
// cost those who execute at the same time.
#include <libpq-fe.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench.hpp"
#include "core/sweep_plan.hpp"
#include "in_flight.hpp"
#include "private_server.hpp"
#include "scratch_dir.hpp"
#include "semel/databases/postgres.hpp"
#include "semel/engine.hpp"
#include "workload.hpp"

namespace semel::bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t width = 256; // executions in flight
constexpr seconds usual_turn{4};
// A few per cent are looked for, on machines whose speed changes by more within a minute.
constexpr std::size_t more_rounds = 3;
constexpr double page_ms = 300;
constexpr double batch_ms = 100;
constexpr std::size_t new_per_second = 10'000; // what a sweeper has to keep up with
constexpr auto between_pages = 100ms; // an operator who leafs, and a console that looks again

// The long form: SEMEL_BENCH_RECORDS=10000000.
std::size_t record_count() {
    const char* const given = std::getenv("SEMEL_BENCH_RECORDS");
    return given == nullptr ? 1'000'000 : std::strtoull(given, nullptr, 10);
}

void sql(PGconn* on, const std::string& text) {
    PGresult* const got = PQexec(on, text.c_str());
    const auto status = PQresultStatus(got);
    PQclear(got);
    require(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, PQerrorMessage(on));
}

// Two thirds have expired, a hundredth is stuck, the others are answers that stay; a hundred
// tenants with ten operations each.
std::string fill(std::size_t count) {
    return "INSERT INTO semel_record (fence, lease_until, begun_at, created_at, updated_at, grace, "
           "processing_max, attempts_max, owner, on_lease_expiry, tenant, operation, key, state, "
           "expires_at, result_ref, result) "
           "SELECT at, at + 30000000, at, at, at, 250000, 86400000000, 100, gen_random_uuid(), 2, "
           "convert_to('tenant-' || i % 100, 'UTF8'), convert_to('OP_' || i % 10, 'UTF8'), "
           "convert_to(md5(i::text), 'UTF8'), CASE WHEN i % 100 = 0 THEN 0 ELSE 1 END, "
           "CASE WHEN i % 100 = 0 THEN 0 WHEN i % 3 < 2 THEN at + 3600000000 ELSE at + "
           "864000000000 END, CASE WHEN i % 100 = 0 THEN '' ELSE convert_to('ref_' || i, 'UTF8') "
           "END, convert_to(repeat('x', 120), 'UTF8') "
           "FROM (SELECT i, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - "
           "7200000000 - i AS at FROM generate_series(1, " +
           std::to_string(count) + ") i) made";
}

class place {
public:
    explicit place(const settings& how) : dir_(how.work_dir), server_("postgres", dir_.path()) {
        const postgres_store_options options{.url = url()};
        require(migrate_postgres(options, migrate_mode::run).has_value(), "cannot migrate");
        PGconn* const on = PQconnectdb(url().c_str());
        sql(on, fill(record_count()));
        sql(on, "ANALYZE semel_record");
        sql(on, "CHECKPOINT");
        PQfinish(on);
    }
    [[nodiscard]] std::string url() const { return server_.setting("SEMEL_TEST_POSTGRES"); }

private:
    scratch_dir dir_;
    private_server server_;
};

// The slowest of a hundred.
double nearly_worst(std::vector<double> all) {
    require(!all.empty(), "nothing was measured");
    std::sort(all.begin(), all.end());
    return all[std::min(all.size() - 1, all.size() * 99 / 100)];
}

double ms_since(const stopwatch& begun) {
    return begun.elapsed().count() * 1'000;
}

// What a console and the tool ask for, over and over.
class operators {
public:
    explicit operators(const std::string& url)
        : store_(open_postgres_store({.url = url, .lanes = 1}).value()) {}

    void ask_once() {
        const std::size_t turn = turn_++;
        record_query query{.records_max = 100};
        switch (turn % 6) {
        case 0: break; // all there are
        case 1: query.tenant = "tenant-7"; break;
        case 2: query.tenant = "tenant-7", query.operation = "OP_7"; break;
        case 3: query.result_ref = "ref_" + std::to_string(turn * 7 + 1); break;
        case 4: query.stuck_for = 5min; break;
        default: query.states = {record_state::failed_final}; break; // there is none
        }
        if (turn % 6 == 0) query.cursor = cursor_;
        const stopwatch begun;
        const auto page = store_->search(query);
        took_.push_back(ms_since(begun));
        require(page.has_value(), "a search failed");
        if (turn % 6 == 0) cursor_ = page->cursor;
    }
    [[nodiscard]] double slowest() const { return nearly_worst(took_); }

private:
    std::unique_ptr<store> store_;
    std::size_t turn_ = 0;
    std::string cursor_;
    std::vector<double> took_;
};

class sweeper {
public:
    explicit sweeper(const std::string& url)
        : store_(open_postgres_store({.url = url, .lanes = 1}).value()) {}

    // One batch, and the pause after it.
    void sweep_once() {
        const stopwatch begun;
        const auto did = store_->sweep({.records_max = pace_.records_max()});
        const double took = ms_since(begun);
        require(did.has_value(), "a sweep failed");
        require(did->state == sweep_state::more, "there was nothing more to sweep");
        took_.push_back(took);
        removed_ += did->removed;
        std::this_thread::sleep_for(
            pace_.next(did, std::chrono::microseconds{static_cast<long>(took * 1'000)}));
    }
    // As if there had always been more for so long.
    void fall_behind(duration length) {
        constexpr duration usual = 60ms; // changes nothing else
        const sweep_report more{.state = sweep_state::more};
        for (duration gone = {}; gone < length;) gone += usual + pace_.next(more, usual);
    }
    [[nodiscard]] std::size_t removed() const { return removed_; }
    [[nodiscard]] double slowest() const { return nearly_worst(took_); }

private:
    std::unique_ptr<store> store_;
    sweep_pace pace_{sweep_options{}};
    std::size_t removed_ = 0;
    std::vector<double> took_;
};

class executions {
public:
    explicit executions(const std::string& url)
        : engine_(open_postgres_store({.url = url}).value(), {}, {.sweep = {.idle = 24h}}) {}

    // As many as there can be; per second.
    double run(seconds most) {
        const stopwatch begun;
        const std::size_t made = some({.width = width, .most = most});
        return static_cast<double>(made) / begun.elapsed().count();
    }
    // No more than so many per second; how many there were.
    double run_at(std::size_t per_second, seconds most) {
        constexpr std::size_t slices = 20; // per second
        const auto start = std::chrono::steady_clock::now();
        const stopwatch begun;
        std::size_t made = 0;
        for (int slice = 1; begun.elapsed() < most; ++slice) {
            made += some({.width = width, .most = most, .runs_max = per_second / slices});
            std::this_thread::sleep_until(start + slice * (1'000ms / slices));
        }
        return static_cast<double>(made) / begun.elapsed().count();
    }

private:
    std::size_t some(in_flight how) {
        how.next_key = [&] { return next_++; };
        return run_in_flight(engine_, how);
    }

    engine engine_;
    std::uint64_t next_ = 1;
};

// Runs `what` again and again beside `load`.
template <class What, class Load> double beside(What what, Load load) {
    std::atomic<bool> stop = false;
    std::jthread other{[&] {
        while (!stop) what();
    }};
    const double made = load();
    stop = true;
    return made;
}

} // namespace

void operations(const settings& how, report& to) {
    to.progress("operations: making " + std::to_string(record_count()) + " records");
    const place at{how};
    const seconds turn = std::min(usual_turn, how.per_measurement);
    executions load{at.url()};
    operators people{at.url()};
    sweeper sweeps{at.url()};
    sweeper hurries{at.url()};
    hurries.fall_behind(5min);
    static_cast<void>(load.run(turn)); // warms up
    std::vector<figures> searched, swept, pages, batches, keeps_up;
    for (std::size_t i = 0; i < more_rounds * how.rounds; ++i) {
        to.progress("operations: round " + std::to_string(i + 1));
        const double before = load.run(turn);
        const double with_people = beside(
            [&] {
                people.ask_once();
                std::this_thread::sleep_for(between_pages);
            },
            [&] { return load.run(turn); });
        const double between = load.run(turn);
        const double with_sweeper =
            beside([&] { sweeps.sweep_once(); }, [&] { return load.run(turn); });
        const double after = load.run(turn);
        const std::size_t removed = hurries.removed();
        const stopwatch begun;
        const double paced = beside([&] { hurries.sweep_once(); },
                                    [&] { return load.run_at(new_per_second, turn / 4); });
        const double rate =
            static_cast<double>(hurries.removed() - removed) / begun.elapsed().count();
        searched.push_back({with_people, (before + between) / 2});
        swept.push_back({with_sweeper, (between + after) / 2});
        pages.push_back({people.slowest(), page_ms});
        batches.push_back({sweeps.slowest(), batch_ms});
        keeps_up.push_back({rate, paced});
    }
    const auto add = [&](std::string name, std::string unit, std::string reference, bar is,
                         const std::vector<figures>& rounds) {
        to.add({.scenario = std::move(name),
                .unit = std::move(unit),
                .reference_name = std::move(reference),
                .bar = is},
               rounds);
    };
    add("operations: a page", "ms", "the bar", at_most(1), pages);
    add("operations: a sweeper's batch", "ms", "the bar", at_most(1), batches);
    add("operations: swept, beside 10000 new records/s", "record/s", "new records", at_least(1),
        keeps_up);
    add("operations: execute beside searches", "op/s", "without them", at_least(0.9), searched);
    add("operations: execute beside a sweeper", "op/s", "without it", at_least(0.9), swept);
}

} // namespace semel::bench
