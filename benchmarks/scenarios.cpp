#include "bench.hpp"

namespace semel::bench {

const std::vector<scenario>& scenarios() {
    static const std::vector<scenario> all{
        {"memory", "the memory store beside a bare striped hash map", &memory},
        {"sqlite", "the SQLite store beside its bare statements", &sqlite},
        {"redis", "the Redis store beside its bare scripts", &redis},
        {"postgres", "the PostgreSQL store beside pgbench and its bare statements", &postgres},
        {"mysql", "the MariaDB store beside a bare client", &mysql_server},
        {"sinks", "each sink beside a bare pipelined client of its broker", &sinks},
        {"outbox", "relays beside raw loops and graphile-worker", &outbox_relay},
        {"gateway", "the gateway beside nginx as a plain proxy", &gateway},
        {"grpc", "protected gRPC services beside the same one unprotected", &grpc},
        {"operations", "searches and sweeps among a million records, beside executions",
         &operations},
        {"soak", "the gateway at full load for ten minutes; only when named", &soak,
         scenario::runs::when_named},
    };
    return all;
}

} // namespace semel::bench
