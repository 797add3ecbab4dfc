#include "outbox_raw.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "bare_mysql.hpp"
#include "workload.hpp"

namespace semel::bench {

namespace {

// ---- PostgreSQL ---------------------------------------------------------------------------------

std::string claim_text(const std::string& prefix) {
    const std::string table = prefix + "outbox";
    return "WITH done AS (DELETE FROM " + table +
           " WHERE id = ANY($3::bigint[]) AND lock_token = $4::bigint RETURNING 1), c AS (SELECT "
           "id FROM " +
           table +
           " WHERE shard_id = $1::int AND status = 0 AND next_retry_time <= "
           "(extract(epoch FROM now()) * 1000000)::bigint ORDER BY next_retry_time, lock_until, "
           "id LIMIT $2::int FOR NO KEY UPDATE SKIP LOCKED), u AS (UPDATE " +
           table +
           " o SET status = 1, lock_token = $4::bigint, attempts = attempts + 1, next_retry_time "
           "= 0, lock_until = (extract(epoch FROM now()) * 1000000)::bigint + 30000000 FROM c "
           "WHERE o.id = c.id RETURNING o.id, o.topic, o.message_key, o.headers, o.payload) "
           "SELECT d.acked, u.* FROM (SELECT count(*) AS acked FROM done) d LEFT JOIN u ON true";
}

class raw_postgres {
public:
    raw_postgres(const std::string& url, const std::string& prefix)
        : on_(PQconnectdb(url.c_str())) {
        require(PQstatus(on_) == CONNECTION_OK, PQerrorMessage(on_));
        PQclear(PQexec(on_, "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; "
                            "SET enable_hashjoin = off; SET enable_mergejoin = off; SET "
                            "enable_bitmapscan = off; SET jit = off"));
        PGresult* const made = PQprepare(on_, "claim", claim_text(prefix).c_str(), 0, nullptr);
        require(PQresultStatus(made) == PGRES_COMMAND_OK, PQerrorMessage(on_));
        PQclear(made);
    }
    raw_postgres(const raw_postgres&) = delete;
    raw_postgres& operator=(const raw_postgres&) = delete;
    ~raw_postgres() { PQfinish(on_); }

    std::size_t drain(int shard, std::size_t batch) {
        std::size_t rows = 0;
        std::string done = "{}";
        while (true) {
            const std::string shard_text = std::to_string(shard);
            const std::string batch_text = std::to_string(batch);
            const char* const values[]{shard_text.c_str(), batch_text.c_str(), done.c_str(), "7"};
            PGresult* const got = PQexecPrepared(on_, "claim", 4, values, nullptr, nullptr, 0);
            require(PQresultStatus(got) == PGRES_TUPLES_OK, PQerrorMessage(on_));
            done = "{";
            std::size_t claimed = 0;
            for (int row = 0; row < PQntuples(got); ++row) {
                if (PQgetisnull(got, row, 1) != 0) continue;
                if (claimed++ > 0) done += ',';
                done += PQgetvalue(got, row, 1);
            }
            done += '}';
            PQclear(got);
            if (claimed == 0) return rows;
            rows += claimed;
        }
    }

private:
    PGconn* const on_;
};

// ---- MariaDB ------------------------------------------------------------------------------------

class raw_mysql {
public:
    raw_mysql(unsigned port, std::string prefix) : on_(port), table_(prefix + "outbox") {
        mysql_set_server_option(on_.native(), MYSQL_OPTION_MULTI_STATEMENTS_ON);
        on_.sql("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    }

    std::size_t drain(int shard, std::size_t batch, long long token) {
        std::size_t rows = 0;
        std::string done;
        while (true) {
            const std::string mark = std::to_string(++token);
            std::string text = "START TRANSACTION;";
            if (!done.empty()) text += "DELETE FROM " + table_ + " WHERE id IN (" + done + ");";
            text += "UPDATE (SELECT id FROM " + table_ +
                    " FORCE INDEX (idx_claim) WHERE shard_id=" + std::to_string(shard) +
                    " AND status=0 AND next_retry_time=0 AND lock_until=0 ORDER BY id LIMIT " +
                    std::to_string(batch) + " FOR UPDATE SKIP LOCKED) c STRAIGHT_JOIN " + table_ +
                    " o ON o.id=c.id SET o.status=1,o.lock_token=" + mark +
                    ",o.attempts=o.attempts+1,o.lock_until=" + mark + ";SELECT id,topic," +
                    "message_key,headers,payload FROM " + table_ +
                    " FORCE INDEX (idx_claim) WHERE shard_id=" + std::to_string(shard) +
                    " AND status=1 AND next_retry_time=0 AND lock_until=" + mark + ";COMMIT";
            done = run(text);
            if (done.empty()) return rows;
            rows += 1 + static_cast<std::size_t>(std::count(done.begin(), done.end(), ','));
        }
    }

private:
    // The ids of what was claimed.
    std::string run(const std::string& text) {
        MYSQL* const on = on_.native();
        on_.check(mysql_real_query(on, text.data(), text.size()) == 0);
        std::string ids;
        while (true) {
            if (MYSQL_RES* const got = mysql_store_result(on)) {
                while (MYSQL_ROW row = mysql_fetch_row(got)) {
                    if (!ids.empty()) ids += ',';
                    ids += row[0];
                }
                mysql_free_result(got);
            }
            const int next = mysql_next_result(on);
            on_.check(next <= 0);
            if (next < 0) return ids;
        }
    }

    mysql_client on_;
    const std::string table_;
};

// Each connection has shards of its own.
template <class Drain> std::size_t drain_all(const raw_loop& how, const Drain& drain) {
    std::atomic<std::size_t> rows = 0;
    static_cast<void>(time_threads(how.connections, [&](std::size_t thread) {
        rows += drain(static_cast<int>(thread), static_cast<int>(how.connections));
    }));
    return rows;
}

} // namespace

std::size_t drain_raw_postgres(const std::string& url, const raw_loop& how) {
    return drain_all(how, [&](int first, int step) {
        raw_postgres on{url, how.prefix};
        std::size_t rows = 0;
        for (int shard = first; shard < how.shards; shard += step) {
            rows += on.drain(shard, how.batch);
        }
        return rows;
    });
}

std::size_t drain_raw_mysql(unsigned port, const raw_loop& how) {
    return drain_all(how, [&](int first, int step) {
        raw_mysql on{port, how.prefix};
        std::size_t rows = 0;
        for (int shard = first; shard < how.shards; shard += step) {
            rows += on.drain(shard, how.batch, 1'000'000LL * (shard + 1));
        }
        return rows;
    });
}

} // namespace semel::bench
