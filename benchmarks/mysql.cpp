#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bare_mysql.hpp"
#include "bench.hpp"
#include "in_flight.hpp"
#include "lines.hpp"
#include "private_server.hpp"
#include "scratch_dir.hpp"
#include "semel/databases/mysql.hpp"
#include "semel/databases/mysql/transaction.hpp"
#include "semel/engine.hpp"
#include "turns.hpp"
#include "workload.hpp"

namespace semel::bench {

namespace {

namespace on_mysql {

constexpr std::size_t width = 256;  // executions in flight
constexpr std::size_t callers = 64; // blocking threads
constexpr std::size_t clients = 32; // of the bare client, and of transact
constexpr std::size_t known = 200'000;
constexpr seconds usual_turn{2};
constexpr const char* table_prefix = "semel_";
constexpr const char* bare_prefix = "bare_";

mysql_store_options options_for(unsigned port, const char* prefix) {
    return {.port = static_cast<std::uint16_t>(port),
            .user = "semel",
            .password = "semel",
            .database = "semel",
            .table_prefix = prefix};
}

// ---- semel --------------------------------------------------------------------------------------

class semel_side {
public:
    explicit semel_side(unsigned port)
        : engine_(open_mysql_store(options_for(port, table_prefix)).value()) {
        for (std::size_t i = 0; i < clients; ++i) desks_.push_back(std::make_unique<desk>(port));
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
        return run(threads, most, [&](std::size_t) { return execute(next_++).executed(); });
    }
    std::size_t replays(std::size_t threads, seconds most) {
        seed_ += threads;
        std::vector<random_order> orders;
        for (std::size_t i = 0; i < threads; ++i) orders.emplace_back(seed_ - i, known);
        return run(threads, most,
                   [&](std::size_t thread) { return execute(orders[thread].next()).replayed(); });
    }
    std::size_t transactions(std::size_t threads, seconds most) {
        return run(threads, most, [&](std::size_t thread) {
            return transact(*desks_[thread], next_++).executed();
        });
    }

private:
    // An application's connection with a statement of its own.
    struct desk {
        explicit desk(unsigned port) : on(port), order(on, insert_order()), port_of(on.native()) {}
        mysql_client on;
        mysql_statement order;
        mysql_transaction port_of;
    };

    template <class One> std::size_t run(std::size_t threads, seconds most, One one) {
        std::atomic<std::size_t> done = 0;
        static_cast<void>(time_threads(threads, [&](std::size_t thread) {
            for (const stopwatch watch; watch.elapsed() < most; ++done) {
                require(one(thread), "semel: an execution did not end as expected");
            }
        }));
        return done;
    }

    outcome<std::string> execute(std::uint64_t number) {
        return engine_.execute<std::string>(request_for(key_of(number)),
                                            [] { return answer_body(); });
    }
    outcome<std::string> transact(desk& at, std::uint64_t number) {
        return engine_.transact<std::string>(at.port_of, request_for(key_of(number)), [&] {
            at.order.run();
            return answer_body();
        });
    }

    engine engine_;
    std::vector<std::unique_ptr<desk>> desks_;
    std::atomic<std::uint64_t> next_ = known;
    std::uint64_t seed_ = 0;
};

// ---- the reference ------------------------------------------------------------------------------

class bare_side {
public:
    explicit bare_side(unsigned port) {
        for (std::size_t i = 0; i < clients; ++i) {
            all_.push_back(std::make_unique<bare_mysql>(port, bare_prefix));
        }
    }

    std::size_t first(std::size_t threads, seconds most) {
        return run(threads, [&](bare_mysql& one) { return one.run_first(range(), most); });
    }
    std::size_t replays(std::size_t threads, seconds most) {
        return run(threads, [&](bare_mysql& one) { return one.run_replays(known, range(), most); });
    }
    std::size_t transactions(std::size_t threads, seconds most) {
        return run(threads, [&](bare_mysql& one) { return one.run_transactions(range(), most); });
    }
    std::size_t orders(std::size_t threads, seconds most) {
        return run(threads, [&](bare_mysql& one) { return one.run_orders(most); });
    }

private:
    template <class One> std::size_t run(std::size_t threads, One one) {
        std::atomic<std::size_t> done = 0;
        static_cast<void>(
            time_threads(threads, [&](std::size_t thread) { done += one(*all_[thread]); }));
        return done;
    }
    // Keys that nobody else has.
    std::uint64_t range() { return ranges_.fetch_add(std::uint64_t{1} << 32); }

    std::vector<std::unique_ptr<bare_mysql>> all_;
    std::atomic<std::uint64_t> ranges_ = std::uint64_t{1} << 40;
};

// A server with the tables of both, and finished records in them.
class place {
public:
    explicit place(const settings& how) : dir_(how.work_dir), server_("mariadb", dir_.path()) {
        mysql_client setup{port()};
        setup.sql(orders_table());
        for (const char* prefix : {table_prefix, bare_prefix}) {
            migrate_mysql(options_for(port(), prefix), migrate_mode::run).value();
            bare_mysql{port(), prefix}.preload(known);
            setup.sql("ANALYZE TABLE " + std::string{prefix} + "record");
        }
    }

    [[nodiscard]] unsigned port() const {
        const std::string url = server_.setting("SEMEL_TEST_MARIADB");
        return static_cast<unsigned>(std::stoul(url.substr(url.rfind(':') + 1)));
    }

private:
    const scratch_dir dir_;
    const private_server server_;
};

// ---- rounds -------------------------------------------------------------------------------------

// Operations per second of each way, in one round.
struct rates {
    double in_flight = 0, many = 0, lone = 0;
    double replay_in_flight = 0, replay_many = 0, replay_lone = 0;
    double transact_many = 0, transact_lone = 0;
    double two_commits = 0, two_commits_lone = 0, look_up = 0, look_up_lone = 0;
    double by_hand = 0, by_hand_lone = 0, order = 0;
};

turns<rates> all_turns(semel_side& semel, bare_side& bare, seconds most) {
    turns<rates> all;
    all.add(&rates::in_flight, [&, most] { return semel.first_in_flight(most); });
    all.add(&rates::two_commits, [&, most] { return bare.first(clients, most); });
    all.add(&rates::many, [&, most] { return semel.first(callers, most); });
    all.add(&rates::replay_in_flight, [&, most] { return semel.replays_in_flight(most); });
    all.add(&rates::look_up, [&, most] { return bare.replays(clients, most); });
    all.add(&rates::replay_many, [&, most] { return semel.replays(callers, most); });
    all.add(&rates::transact_many, [&, most] { return semel.transactions(clients, most); });
    all.add(&rates::by_hand, [&, most] { return bare.transactions(clients, most); });
    all.add(&rates::order, [&, most] { return bare.orders(clients, most); });
    all.add(&rates::transact_lone, [&, most] { return semel.transactions(1, most); });
    all.add(&rates::by_hand_lone, [&, most] { return bare.transactions(1, most); });
    all.add(&rates::lone, [&, most] { return semel.first(1, most); });
    all.add(&rates::two_commits_lone, [&, most] { return bare.first(1, most); });
    all.add(&rates::replay_lone, [&, most] { return semel.replays(1, most); });
    all.add(&rates::look_up_lone, [&, most] { return bare.replays(1, most); });
    return all;
}

const std::vector<line<rates>>& lines() {
    static const std::vector<line<rates>> all{
        {"mysql first, 256 in flight", "bare client, insert and update, 32 clients", at_least(2.5),
         &rates::in_flight, &rates::two_commits},
        {"mysql first, 64 callers",
         "bare client, insert and update, 32 clients",
         {},
         &rates::many,
         &rates::two_commits},
        {"mysql replay, 256 in flight", "bare client, look-ups, 32 clients", at_least(1.5),
         &rates::replay_in_flight, &rates::look_up},
        {"mysql replay, 64 callers",
         "bare client, look-ups, 32 clients",
         {},
         &rates::replay_many,
         &rates::look_up},
        {"mysql transact, 32 callers", "bare client, BEGIN, insert, order, update, COMMIT",
         at_least(0.85), &rates::transact_many, &rates::by_hand},
        {"mysql transact, 32 callers, no record", "bare client, BEGIN, order, COMMIT",
         at_least(0.42), &rates::transact_many, &rates::order},
        {"mysql transact, lone caller", "bare client, BEGIN, insert, order, update, COMMIT",
         at_least(0.8), &rates::transact_lone, &rates::by_hand_lone},
        {"mysql first, lone caller", "bare client, insert and update", at_least(0.8), &rates::lone,
         &rates::two_commits_lone},
        {"mysql replay, lone caller", "bare client, look-up", at_least(0.8), &rates::replay_lone,
         &rates::look_up_lone},
    };
    return all;
}

} // namespace on_mysql

} // namespace

void mysql_server(const settings& how, report& to) {
    using namespace on_mysql;
    to.progress("mysql: making a server with " + std::to_string(known) + " records");
    const place at{how};
    semel_side semel{at.port()};
    bare_side bare{at.port()};
    const auto all = all_turns(semel, bare, std::min(usual_turn, how.per_measurement));
    std::vector<rates> rounds;
    for (std::size_t i = 0; i < how.rounds; ++i) {
        to.progress("mysql: round " + std::to_string(i + 1));
        all.take(i, how.rounds, rounds.emplace_back());
    }
    add_lines(to, lines(), rounds);
}

} // namespace semel::bench
