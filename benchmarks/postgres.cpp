#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "async_transactions.hpp"
#include "bare_postgres.hpp"
#include "bench.hpp"
#include "in_flight.hpp"
#include "pgbench.hpp"
#include "postgres_client.hpp"
#include "postgres_lines.hpp"
#include "postgres_scripts.hpp"
#include "private_server.hpp"
#include "scratch_dir.hpp"
#include "semel/databases/postgres.hpp"
#include "semel/databases/postgres/transaction.hpp"
#include "semel/engine.hpp"
#include "turns.hpp"
#include "workload.hpp"

namespace semel::bench {

namespace {

constexpr std::size_t width = 256;  // executions in flight
constexpr std::size_t callers = 64; // blocking threads
constexpr std::size_t clients = 32; // of pgbench, and of transact
constexpr std::size_t known = 200'000;
constexpr seconds usual_turn{2};
constexpr const char* table_prefix = "semel_";
constexpr const char* bare_prefix = "bare_";

const std::size_t lanes = postgres_store_options{}.lanes;

postgres_store_options options_for(const std::string& url, const char* prefix) {
    return {.url = url, .table_prefix = prefix};
}

// ---- semel --------------------------------------------------------------------------------------

class semel_side {
public:
    explicit semel_side(const std::string& url)
        : engine_(open_postgres_store(options_for(url, table_prefix)).value()),
          async_(engine_, url, clients, [this] { return next_++; }) {
        for (std::size_t i = 0; i < clients; ++i) {
            desks_.push_back(std::make_unique<desk>(url));
        }
    }

    std::size_t first_in_flight(seconds most) {
        return run_in_flight(engine_,
                             {.width = width, .most = most, .next_key = [&] { return next_++; }});
    }
    std::size_t replays_in_flight(seconds most) {
        random_order order{++seed_, known};
        return run_in_flight(engine_, {.width = width,
                                       .most = most,
                                       .next_key = [&] { return order.next(); },
                                       .expected = outcome_kind::replayed});
    }

    std::size_t first(std::size_t threads, seconds most) {
        const std::uint64_t before = next_;
        static_cast<void>(time_threads(threads, [&](std::size_t) {
            for (const stopwatch watch; watch.elapsed() < most;) {
                require(execute(next_++).executed(), "semel: a new key was not executed");
            }
        }));
        return next_ - before;
    }
    std::size_t replays(std::size_t threads, seconds most) {
        std::atomic<std::size_t> done = 0;
        seed_ += threads;
        static_cast<void>(time_threads(threads, [&](std::size_t thread) {
            random_order order{seed_ - thread, known};
            for (const stopwatch watch; watch.elapsed() < most; ++done) {
                require(execute(order.next()).replayed(), "semel: a known key was not replayed");
            }
        }));
        return done;
    }

    std::size_t async_transactions_of(async_transactions::work how, seconds most) {
        return async_.run(how, most);
    }
    std::size_t transactions(std::size_t threads, seconds most) {
        return run_transactions(threads, most, &semel_side::transact);
    }
    std::size_t queued_transactions(std::size_t threads, seconds most) {
        return run_transactions(threads, most, &semel_side::transact_queued);
    }

private:
    // An application's connection with a statement of its own.
    struct desk {
        explicit desk(const std::string& url) : on(url), port(on.native(), {}) {
            on.prepare_order();
        }
        postgres_client on;
        postgres_transaction port;
    };

    outcome<std::string> execute(std::uint64_t number) {
        return engine_.execute<std::string>(request_for(key_of(number)),
                                            [] { return answer_body(); });
    }
    outcome<std::string> transact(desk& at, std::uint64_t number) {
        return engine_.transact<std::string>(at.port, request_for(key_of(number)), [&] {
            at.on.run("order");
            return answer_body();
        });
    }
    // The order goes with the record.
    outcome<std::string> transact_queued(desk& at, std::uint64_t number) {
        return engine_.transact<std::string>(at.port, request_for(key_of(number)), [&] {
            at.on.queue("order");
            return answer_body();
        });
    }
    std::size_t run_transactions(std::size_t threads, seconds most,
                                 outcome<std::string> (semel_side::*one)(desk&, std::uint64_t)) {
        const std::uint64_t before = next_;
        static_cast<void>(time_threads(threads, [&](std::size_t thread) {
            for (const stopwatch watch; watch.elapsed() < most;) {
                require((this->*one)(*desks_[thread], next_++).executed(), "semel: not executed");
            }
        }));
        return next_ - before;
    }

    engine engine_;
    std::vector<std::unique_ptr<desk>> desks_;
    std::atomic<std::uint64_t> next_ = known;
    std::uint64_t seed_ = 0;
    async_transactions async_;
};

// ---- the references -----------------------------------------------------------------------------

class bare_side {
public:
    explicit bare_side(const postgres::session_options& options) {
        for (std::size_t i = 0; i < lanes; ++i) {
            all_.push_back(std::make_unique<bare_postgres>(options));
        }
    }

    // As many at the same time as semel's lanes have in their batches.
    std::size_t first_in_groups(seconds most) {
        std::atomic<std::size_t> done = 0;
        static_cast<void>(time_threads(lanes, [&](std::size_t thread) {
            done += all_[thread]->run_first(range(), width / lanes, most);
        }));
        return done;
    }
    std::size_t first(seconds most) { return all_[0]->run_first(range(), 1, most); }
    std::size_t replays(seconds most) { return all_[0]->run_replays(known, range(), most); }

private:
    // Keys that nobody else has.
    std::uint64_t range() { return ranges_.fetch_add(std::uint64_t{1} << 32); }

    std::vector<std::unique_ptr<bare_postgres>> all_;
    std::atomic<std::uint64_t> ranges_ = std::uint64_t{1} << 40;
};

postgres::session_options session_for(const std::string& url, const char* prefix) {
    const postgres_store_options like = options_for(url, prefix);
    return {.to = postgres::read_target({.url = url,
                                         .connect_timeout = like.connect_timeout,
                                         .answer_timeout = like.statement_timeout,
                                         .lock_timeout = like.lock_timeout})
                      .value(),
            .table_prefix = prefix,
            .texts = postgres::statement_texts{prefix}};
}

// A server with the tables of both.
class place {
public:
    explicit place(const settings& how) : dir_(how.work_dir), server_("postgres", dir_.path()) {
        postgres_client{url()}.sql(scripts.tables);
        for (const char* prefix : {table_prefix, bare_prefix}) {
            migrate_postgres(options_for(url(), prefix), migrate_mode::run).value();
        }
    }

    // Finished records, and nothing of the last round: whoever did more in it would have the larger
    // tables in the next, and soon tables that do not fit into the server's memory.
    void make_tables_anew() const {
        postgres_client setup{url()};
        setup.sql("TRUNCATE orders, idem");
        setup.sql(scripts.records);
        for (const std::string prefix : {table_prefix, bare_prefix}) {
            setup.sql("TRUNCATE " + prefix + "record");
            bare_postgres{session_for(url(), prefix.c_str())}.preload(known);
        }
        setup.sql("VACUUM ANALYZE");
        setup.sql("CHECKPOINT");
    }

    // Without TLS: neither side is to be measured by its cipher.
    [[nodiscard]] std::string url() const {
        return server_.setting("SEMEL_TEST_POSTGRES") + "?sslmode=disable";
    }
    [[nodiscard]] const std::filesystem::path& folder() const { return dir_.path(); }

    const postgres_scripts scripts{table_prefix, known};

private:
    const scratch_dir dir_;
    const private_server server_;
};

// ---- rounds -------------------------------------------------------------------------------------

using rates = postgres_rates;

// Everything that is measured, in groups.
class measurements {
public:
    measurements(semel_side& semel, bare_side& bare, const pgbench& pg,
                 const postgres_scripts& scripts, seconds most)
        : semel_(semel), bare_(bare), pg_(pg), scripts_(scripts), most_(most) {}

    [[nodiscard]] std::vector<turns<rates>> groups() const {
        return {leases(), transactions(), lone_callers()};
    }

private:
    using work = async_transactions::work;

    [[nodiscard]] turns<rates> leases() const {
        turns<rates> all;
        all.add(&rates::in_flight, [this] { return semel_.first_in_flight(most_); });
        add_pgbench(all, &rates::two_commits, scripts_.two_commits, clients);
        all.add(&rates::bare_groups, [this] { return bare_.first_in_groups(most_); });
        all.add(&rates::many, [this] { return semel_.first(callers, most_); });
        all.add(&rates::replay_in_flight, [this] { return semel_.replays_in_flight(most_); });
        add_pgbench(all, &rates::look_up, scripts_.look_up, clients);
        all.add(&rates::replay_many, [this] { return semel_.replays(callers, most_); });
        return all;
    }
    [[nodiscard]] turns<rates> transactions() const {
        turns<rates> all;
        add_loops(all, &rates::transact_many, work::waits);
        add_pgbench(all, &rates::shape_many, scripts_.same_shape, clients);
        all.add(&rates::transact_threads, [this] { return semel_.transactions(clients, most_); });
        add_pgbench(all, &rates::order, scripts_.bare_order, clients);
        add_loops(all, &rates::pooled_many, work::pooled);
        add_pooled_pgbench(all, &rates::pooled_shape_many, scripts_.pooled_shape);
        add_loops(all, &rates::pooled_queued_many, work::pooled_queued);
        add_pooled_pgbench(all, &rates::pooled_queued_shape_many, scripts_.pooled_queued_shape);
        add_loops(all, &rates::queued_many, work::queued);
        add_pgbench(all, &rates::queued_shape_many, scripts_.queued_shape, clients);
        all.add(&rates::queued_threads,
                [this] { return semel_.queued_transactions(clients, most_); });
        add_pgbench(all, &rates::claim_update, scripts_.claim_update, clients);
        return all;
    }
    [[nodiscard]] turns<rates> lone_callers() const {
        turns<rates> all;
        all.add(&rates::transact_lone, [this] { return semel_.transactions(1, most_); });
        add_pgbench(all, &rates::shape_lone, scripts_.same_shape, 1);
        all.add(&rates::lone, [this] { return semel_.first(1, most_); });
        all.add(&rates::bare_lone, [this] { return bare_.first(most_); });
        all.add(&rates::replay_lone, [this] { return semel_.replays(1, most_); });
        all.add(&rates::bare_replay, [this] { return bare_.replays(most_); });
        return all;
    }

    void add_pgbench(turns<rates>& all, double rates::*to, const std::string& script,
                     std::size_t how_many) const {
        all.add_rate(to, [this, &script, how_many] {
            return pg_.rate({.script = script,
                             .parameters = scripts_.parameters,
                             .clients = how_many,
                             .most = most_});
        });
    }
    void add_pooled_pgbench(turns<rates>& all, double rates::*to, const std::string& script) const {
        all.add_rate(to, [this, &script] {
            return pg_.rate({.script = script,
                             .parameters = scripts_.parameters,
                             .clients = async_transactions::pooled_connections,
                             .most = most_}) *
                   postgres_scripts::pooled_together;
        });
    }
    void add_loops(turns<rates>& all, double rates::*to, work how) const {
        all.add(to, [this, how] { return semel_.async_transactions_of(how, most_); });
    }

    semel_side& semel_;
    bare_side& bare_;
    const pgbench& pg_;
    const postgres_scripts& scripts_;
    const seconds most_;
};

} // namespace

void postgres(const settings& how, report& to) {
    to.progress("postgres: making a server, with " + std::to_string(known) +
                " records for each group of measurements");
    const place at{how};
    const auto session = session_for(at.url(), bare_prefix);
    semel_side semel{at.url()};
    bare_side bare{session};
    const pgbench pg{at.url(), at.folder()};
    const measurements all{semel, bare, pg, at.scripts, std::min(usual_turn, how.per_measurement)};
    std::vector<rates> rounds(how.rounds);
    for (std::size_t i = 0; i < how.rounds; ++i) {
        to.progress("postgres: round " + std::to_string(i + 1));
        for (const auto& group : all.groups()) {
            at.make_tables_anew();
            group.take(i, how.rounds, rounds[i]);
        }
    }
    add_lines(to, postgres_lines(), rounds);
}

} // namespace semel::bench
