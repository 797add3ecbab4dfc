"""Which part of the tree belongs to which layer, and what each layer may know: for tools/tidy.

The name of a layer is its folder below src/. A layer without a folder has public headers only.
"""

# What each layer may include beside itself. A folder that is not named here may include anything:
# apps, tests, benchmarks and examples are where the parts are put together.
LAYERS = {
    "base": set(),
    "log": {"base", "fingerprint"},
    "fingerprint": {"base"},
    "core": {"base", "fingerprint"},
    "ids": {"base", "fingerprint", "core"},
    "store": {"base", "fingerprint", "core"},
    "store/memory": {"base", "fingerprint", "core", "store"},
    "conformance": {"base", "fingerprint", "core", "store"},
    "engine": {"base", "log", "fingerprint", "core", "ids", "store"},
    "operations": {"base", "log", "fingerprint", "core", "store"},
    "asio": {"base", "log", "fingerprint", "core", "ids", "store", "engine"},
    "asio_postgres": {"base", "log", "fingerprint", "core", "ids", "store",
                      "databases/postgres/client", "databases/postgres/transaction", "engine",
                      "asio"},
    "http": {"base", "fingerprint", "core", "engine"},
    "httplib": {"base", "log", "fingerprint", "core", "store", "engine", "http"},
    "beast": {"base", "log", "fingerprint", "core", "store", "engine", "asio", "http"},
    "edge/grpc": {"base", "fingerprint", "core", "ids", "store", "engine", "http"},
    "edge/wire": {"base", "http"},
    "edge/server": {"base", "log", "core", "http", "edge/wire"},
    "edge/gateway": {"base", "log", "fingerprint", "core", "store", "engine", "http", "edge/wire",
                     "edge/server"},
    "edge/center": {"base", "fingerprint", "core", "store", "engine", "http", "edge/server"},
    "edge/admin": {"base", "fingerprint", "core", "store", "engine", "operations", "outbox", "http",
                   "edge/wire", "edge/server", "edge/gateway", "edge/center"},
    "config": {"base", "log", "fingerprint", "core", "store", "engine", "operations", "outbox",
               "http", "edge/wire", "edge/server", "edge/gateway"},
    "edge/console": {"base", "fingerprint", "core", "store", "engine", "http", "outbox",
                     "edge/server", "edge/gateway", "edge/center"},
    "open": {"base", "fingerprint", "core", "store", "store/memory"},
    "nats": {"base", "store", "core", "fingerprint", "open"},
    "outbox": {"base", "log", "fingerprint", "core", "ids", "store"},
    "outbox/sinks": {"base", "log", "fingerprint", "core", "store", "databases/redis/client",
                     "http", "edge/wire", "open", "nats", "outbox"},
    "consumer": {"base", "log", "fingerprint", "core", "store", "databases/redis/client", "engine",
                 "open", "nats", "outbox", "outbox/sinks"},
    "outbox/open": {"base", "store", "open", "outbox"},
    "semel": {"base", "log", "fingerprint", "core", "ids", "store", "engine", "open"},
}

# Every database has rooms of the same kind. A room may know those before it.
ROOMS = {
    "client": {"base", "fingerprint", "core", "store"},
    "store": {"base", "fingerprint", "core", "store"},
    "front": {"base", "fingerprint", "core", "store"},
    "transaction": {"base", "fingerprint", "core", "store"},
    "outbox": {"base", "core", "store", "outbox"},
}
DATABASES = {
    "sqlite": ["client", "store", "transaction", "outbox"],
    "postgres": ["client", "store", "transaction", "outbox"],
    "mysql": ["client", "store", "transaction", "outbox"],
    "redis": ["client", "store", "front"],
}
for database, rooms in DATABASES.items():
    for at, room in enumerate(rooms):
        before = {f"databases/{database}/{name}" for name in rooms[:at]}
        LAYERS[f"databases/{database}/{room}"] = ROOMS[room] | before
    LAYERS["open"] |= {f"databases/{database}/{room}" for room in rooms[:2]}
    LAYERS["outbox/open"].add(f"databases/{database}/outbox")
LAYERS["databases/redis/client"].add("log")

# Public headers by the layer that implements them.
PUBLIC_HEADERS = {
    "base": ["assert", "detail/frame_memory", "function", "result", "runtime", "task", "time"],
    "log": ["log"],
    "fingerprint": ["canonical_json", "fingerprint", "key"],
    "core": ["audit", "command", "logical", "metrics", "policy", "record", "record_machine",
             "search", "sweep"],
    "ids": ["ids"],
    "store": ["decorators", "encrypted", "migrate", "open_mode", "store", "tiered", "transaction"],
    "store/memory": ["stores/memory"],
    "databases/sqlite/client": ["stores/sqlite"],
    "databases/sqlite/transaction": ["transaction/sqlite"],
    "databases/redis/client": ["stores/redis"],
    "databases/postgres/client": ["stores/postgres"],
    "databases/postgres/transaction": ["transaction/postgres", "transaction/postgres_pool"],
    "databases/mysql/client": ["stores/mysql"],
    "databases/mysql/transaction": ["transaction/mysql"],
    "conformance": ["conformance"],
    "engine": ["codec", "detail/cancel_link", "detail/work", "engine", "execution", "json",
               "outcome", "released", "request", "verdict"],
    "operations": ["alert", "reconciler"],
    "asio": ["asio", "transaction/asio", "transaction/asio_waiter"],
    "asio_postgres": ["transaction/postgres_asio", "transaction/postgres_pool_asio"],
    "httplib": ["http/httplib", "http/httplib_messages"],
    "beast": ["http/beast", "http/beast_messages", "http/beast_read"],
    "http": ["http", "http/content", "http/exchange", "http/framing", "http/key_header",
             "http/message", "http/next_hop", "http/problem", "http/profile", "http/route",
             "http/routed_response", "http/stored_response", "http/tenant", "http/token",
             "http/trace"],
    "edge/grpc": ["grpc", "grpc/client", "grpc/codec", "grpc/exchange", "grpc/front", "grpc/guard",
                  "grpc/policy", "grpc/scope", "grpc/service"],
    "open": ["open"],
    "outbox": ["outbox/event", "outbox/sink", "outbox/append", "outbox/relay", "outbox/table"],
    "outbox/sinks": ["outbox/sinks"],
    "consumer": ["consumer"],
    "databases/postgres/outbox": ["outbox/postgres"],
    "databases/mysql/outbox": ["outbox/mysql"],
    "databases/sqlite/outbox": ["outbox/sqlite"],
    "outbox/open": ["outbox", "outbox/open"],
    "semel": ["semel"],
}

BOOST_ALLOWED = ("include/semel/asio.hpp", "include/semel/transaction/asio.hpp",
                 "include/semel/transaction/asio_waiter.hpp",
                 "include/semel/transaction/postgres_pool_asio.hpp",
                 "include/semel/http/beast", "src/edge/", "tests/",
                 "examples/", "apps/", "benchmarks/")

GRPC_ALLOWED = ("include/semel/grpc", "src/edge/grpc/", "tests/", "examples/", "benchmarks/")
