#include <libpq-fe.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "bare_mysql.hpp"
#include "bench.hpp"
#include "outbox_raw.hpp"
#include "private_server.hpp"
#include "scratch_dir.hpp"
#include "semel/databases/mysql.hpp"
#include "semel/databases/mysql/outbox.hpp"
#include "semel/databases/postgres.hpp"
#include "semel/databases/postgres/outbox.hpp"
#include "semel/outbox.hpp"
#include "semel/outbox/open.hpp"
#include "semel/outbox/relay.hpp"
#include "semel/outbox/table.hpp"
#include "workload.hpp"

namespace semel::bench {

namespace {

namespace on_outbox {

constexpr int rows = 200'000;
constexpr int shards = 16;
constexpr std::size_t batch = 500;
constexpr std::size_t workers = 2;
const std::string prefix = "semel_";

class noop_sink final : public outbox::sink {
public:
    void deliver(std::span<const outbox::message>, outbox::order,
                 std::span<outbox::delivery> answers) override {
        for (auto& one : answers) one.how = outbox::delivered::yes;
    }
};

void relay_all(const outbox::table_opener& table, outbox::relay_mode mode) {
    const auto running =
        outbox::open_relay({table},
                           []() -> result<std::unique_ptr<outbox::sink>> {
                               return std::unique_ptr<outbox::sink>{std::make_unique<noop_sink>()};
                           },
                           {.mode = mode,
                            .until = outbox::relay_until::empty,
                            .workers = workers,
                            .batch = batch,
                            .sink_batch = batch})
            .value();
    running->wait();
    require(running->metrics().acked == rows, "the relay has not delivered everything");
}

// ---- PostgreSQL ---------------------------------------------------------------------------------

class client {
public:
    explicit client(const std::string& url) : on_(PQconnectdb(url.c_str())) {
        require(PQstatus(on_) == CONNECTION_OK, PQerrorMessage(on_));
    }
    client(const client&) = delete;
    client& operator=(const client&) = delete;
    ~client() { PQfinish(on_); }

    std::string sql(const std::string& text) {
        PGresult* const got = PQexec(on_, text.c_str());
        const auto status = PQresultStatus(got);
        const std::string first = PQntuples(got) > 0 ? PQgetvalue(got, 0, 0) : "";
        PQclear(got);
        require(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, PQerrorMessage(on_));
        return first;
    }

private:
    PGconn* const on_;
};

// What one drain has cost.
struct cost {
    double rate = 0;
    double wal_bytes = 0;   // per message
    double dead_tuples = 0; // per message
};

class postgres_side {
public:
    explicit postgres_side(const settings& how)
        : dir_(how.work_dir), server_("postgres", dir_.path()), peers_(how.work_dir / "peers") {
        migrate_postgres({.url = url()}, migrate_mode::run).value();
        on_ = std::make_unique<client>(url());
        // The figure is what the statements write, not what a checkpoint happens to add; and what
        // vacuum takes away meanwhile would not be counted.
        on_->sql("ALTER TABLE semel_outbox SET (autovacuum_enabled = off)");
        install_peers();
    }

    template <class Drain> cost measure(const Drain& drain) {
        fill();
        const double wal = wal_bytes();
        const double dead = dead_tuples();
        const stopwatch watch;
        drain();
        const double took = watch.elapsed().count();
        require(on_->sql("SELECT count(*) FROM semel_outbox") == "0", "rows were left");
        return {.rate = rows / took,
                .wal_bytes = (wal_bytes() - wal) / rows,
                .dead_tuples = (dead_tuples() - dead) / rows};
    }

    cost parallel() {
        return measure([&] { relay_all(opener(), outbox::relay_mode::parallel); });
    }
    cost ordered() {
        return measure([&] { relay_all(opener(), outbox::relay_mode::ordered); });
    }
    cost raw() {
        return measure([&] {
            const auto got = drain_raw_postgres(
                url(),
                {.prefix = prefix, .shards = shards, .batch = batch, .connections = workers});
            require(got == rows, "the raw loop has not got everything");
        });
    }
    // With a reader that keeps every dead row alive.
    template <class Drain> cost beside_reader(const Drain& drain) {
        client reader{url()};
        reader.sql("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class");
        const cost made = drain();
        reader.sql("ROLLBACK");
        return made;
    }

    double graphile() {
        const auto output = dir_.path() / "graphile.txt";
        const std::string command = "cd '" + peers_.string() + "' && node drain.mjs '" + url() +
                                    "' " + std::to_string(rows) + " >'" + output.string() + "'";
        require(std::system(command.c_str()) == 0, "graphile-worker did not run");
        std::ifstream file{output};
        std::string word;
        double rate = 0;
        file >> word >> rate;
        return rate;
    }

private:
    [[nodiscard]] std::string url() const {
        return server_.setting("SEMEL_TEST_POSTGRES") + "?sslmode=disable";
    }
    [[nodiscard]] outbox::table_opener opener() const {
        return [at = url()] { return outbox::open_postgres_table({.url = at}); };
    }

    void install_peers() const {
        std::filesystem::create_directories(peers_);
        for (const char* file : {"package.json", "drain.mjs"}) {
            std::filesystem::copy_file(std::string{SEMEL_SOURCE_DIR "/benchmarks/peers/"} + file,
                                       peers_ / file,
                                       std::filesystem::copy_options::overwrite_existing);
        }
        const std::string command = "cd '" + peers_.string() +
                                    "' && { [ -d node_modules/graphile-worker ] || npm install "
                                    "--silent --no-audit --no-fund >/dev/null 2>&1; }";
        require(std::system(command.c_str()) == 0, "npm cannot install graphile-worker");
    }

    void fill() {
        on_->sql("TRUNCATE semel_outbox RESTART IDENTITY");
        on_->sql("INSERT INTO semel_outbox (shard_id, event_id, topic, message_key, payload, "
                 "created_at, updated_at) SELECT i % " +
                 std::to_string(shards) +
                 ", '01ARZ3NDEKTSV4RRFFQ69G5FAV', 'orders', convert_to('key-' || i % 5000, "
                 "'UTF8'), convert_to(repeat('x', 256), 'UTF8'), 1, 1 FROM generate_series(1, " +
                 std::to_string(rows) + ") i");
        on_->sql("VACUUM ANALYZE semel_outbox");
        on_->sql("CHECKPOINT");
    }
    double wal_bytes() {
        return std::stod(on_->sql("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"));
    }
    double dead_tuples() {
        on_->sql("SELECT pg_stat_force_next_flush()");
        return std::stod(on_->sql("SELECT n_tup_del + n_tup_upd FROM pg_stat_user_tables WHERE "
                                  "relname = 'semel_outbox'"));
    }

    const scratch_dir dir_;
    const private_server server_;
    const std::filesystem::path peers_;
    std::unique_ptr<client> on_;
};

// ---- MariaDB ------------------------------------------------------------------------------------

class mysql_side {
public:
    explicit mysql_side(const settings& how) : dir_(how.work_dir), server_("mariadb", dir_.path()) {
        migrate_mysql(options(), migrate_mode::run).value();
        on_ = std::make_unique<mysql_client>(port());
    }

    double parallel() {
        return measure([&] {
            relay_all([&] { return outbox::open_mysql_table(options()); },
                      outbox::relay_mode::parallel);
        });
    }
    double raw() {
        return measure([&] {
            const auto got = drain_raw_mysql(
                port(),
                {.prefix = prefix, .shards = shards, .batch = batch, .connections = workers});
            require(got == rows, "the raw loop has not got everything");
        });
    }

private:
    template <class Drain> double measure(const Drain& drain) {
        on_->sql("TRUNCATE semel_outbox");
        on_->sql("INSERT INTO semel_outbox (shard_id, event_id, topic, message_key, headers, "
                 "trace_context, payload, created_at, updated_at) SELECT seq % " +
                 std::to_string(shards) +
                 ", '01ARZ3NDEKTSV4RRFFQ69G5FAV', 'orders', CONCAT('key-', seq % 5000), '', '', "
                 "REPEAT('x', 256), 1, 1 FROM seq_1_to_" +
                 std::to_string(rows));
        const stopwatch watch;
        drain();
        return rows / watch.elapsed().count();
    }
    [[nodiscard]] unsigned port() const {
        const std::string url = server_.setting("SEMEL_TEST_MARIADB");
        return static_cast<unsigned>(std::stoul(url.substr(url.rfind(':') + 1)));
    }
    [[nodiscard]] mysql_store_options options() const {
        return {.port = static_cast<std::uint16_t>(port()),
                .user = "semel",
                .password = "semel",
                .database = "semel"};
    }

    const scratch_dir dir_;
    const private_server server_;
    std::unique_ptr<mysql_client> on_;
};

// ---- rounds -------------------------------------------------------------------------------------

struct round {
    cost parallel, raw, ordered, parallel_reader, raw_reader;
    double graphile = 0;
};

void report_postgres(const std::vector<round>& all, report& to) {
    const auto add = [&](const char* scenario, const char* unit, const char* reference,
                         std::optional<bar> is, const auto& semel, const auto& other) {
        std::vector<figures> made;
        for (const round& one : all) made.push_back({semel(one), other(one)});
        to.add({.scenario = scenario, .unit = unit, .reference_name = reference, .bar = is}, made);
    };
    const auto parallel = [](const round& one) { return one.parallel.rate; };
    const auto raw = [](const round& one) { return one.raw.rate; };
    add("outbox parallel, postgres", "msg/s", "raw loop of joined ack and claim", at_least(0.7),
        parallel, raw);
    add("outbox parallel, postgres, peer", "msg/s", "graphile-worker 0.17 tuned", at_least(2.5),
        parallel, [](const round& one) { return one.graphile; });
    add(
        "outbox ordered, postgres", "msg/s", "outbox parallel", at_least(1.3),
        [](const round& one) { return one.ordered.rate; }, parallel);
    add(
        "outbox parallel, reader held open", "msg/s", "outbox parallel", at_least(0.5),
        [](const round& one) { return one.parallel_reader.rate; }, parallel);
    add(
        "outbox raw loop, reader held open", "msg/s", "raw loop", {},
        [](const round& one) { return one.raw_reader.rate; }, raw);
    add(
        "outbox parallel, WAL", "bytes/msg", "raw loop", {},
        [](const round& one) { return one.parallel.wal_bytes; },
        [](const round& one) { return one.raw.wal_bytes; });
    add(
        "outbox parallel, dead tuples", "per msg", "raw loop", {},
        [](const round& one) { return one.parallel.dead_tuples; },
        [](const round& one) { return one.raw.dead_tuples; });
    add(
        "outbox ordered, WAL", "bytes/msg", "outbox parallel", {},
        [](const round& one) { return one.ordered.wal_bytes; },
        [](const round& one) { return one.parallel.wal_bytes; });
    add(
        "outbox ordered, dead tuples", "per msg", "outbox parallel", {},
        [](const round& one) { return one.ordered.dead_tuples; },
        [](const round& one) { return one.parallel.dead_tuples; });
}

} // namespace on_outbox

} // namespace

void outbox_relay(const settings& how, report& to) {
    using namespace on_outbox;
    {
        to.progress("outbox: making a PostgreSQL server");
        postgres_side postgres{how};
        std::vector<round> all;
        for (std::size_t i = 0; i < how.rounds; ++i) {
            to.progress("outbox: round " + std::to_string(i + 1));
            round one;
            one.raw = postgres.raw();
            one.parallel = postgres.parallel();
            one.ordered = postgres.ordered();
            one.graphile = postgres.graphile();
            one.parallel_reader = postgres.beside_reader([&] { return postgres.parallel(); });
            one.raw_reader = postgres.beside_reader([&] { return postgres.raw(); });
            all.push_back(one);
        }
        report_postgres(all, to);
    }
    to.progress("outbox: making a MariaDB server");
    mysql_side mysql{how};
    std::vector<figures> made;
    for (std::size_t i = 0; i < how.rounds; ++i) {
        const double raw = mysql.raw();
        made.push_back({mysql.parallel(), raw});
    }
    to.add({.scenario = "outbox parallel, mariadb",
            .unit = "msg/s",
            .reference_name = "raw loop of joined ack and claim",
            .bar = at_least(0.7)},
           made);
}

} // namespace semel::bench
