"""Which part of the tree belongs to which layer, and what each layer may know: for tools/tidy.

The path of a file names its layer: `core` has the sources in src/core and the public headers
semel/core.hpp and semel/core/…; the longest name wins. A layer without a folder has public headers
only.
"""

# What each layer may include beside itself. A folder that is not named here may include anything:
# apps, tests, benchmarks and examples are where the parts are put together.
LAYERS = {
    "base": set(),
    "net": {"base"},
    "log": {"base", "fingerprint"},
    "fingerprint": {"base"},
    "core": {"base", "fingerprint"},
    "ids": {"base", "fingerprint", "core"},
    "store": {"base", "fingerprint", "core"},
    "store/memory": {"base", "fingerprint", "core", "store"},
    "transaction": {"base", "fingerprint", "core"},
    "sql": {"base", "fingerprint", "core", "store", "transaction"},
    "conformance": {"base", "fingerprint", "core", "store"},
    "engine": {"base", "log", "fingerprint", "core", "ids", "store", "transaction"},
    "operations": {"base", "log", "fingerprint", "core", "store"},
    "asio": {"base", "log", "fingerprint", "core", "ids", "store", "transaction", "engine"},
    "asio/transaction": {"base", "log", "fingerprint", "core", "ids", "store", "transaction",
                         "databases/postgres/transaction", "engine", "asio"},
    "http": {"base", "fingerprint", "core", "engine"},
    "http/httplib": {"base", "log", "fingerprint", "core", "store", "transaction", "engine",
                     "http"},
    "http/beast": {"base", "log", "fingerprint", "core", "store", "transaction", "engine", "asio",
                   "http"},
    "grpc": {"base", "fingerprint", "core", "ids", "store", "transaction", "engine", "http"},
    "net/http1": {"base", "http"},
    "edge/server": {"base", "net", "log", "core", "http", "net/http1"},
    "edge/gateway": {"base", "net", "log", "fingerprint", "core", "store", "engine", "http",
                     "net/http1", "edge/server"},
    "edge/api": {"base", "fingerprint", "core", "store", "http", "edge/server"},
    "edge/center": {"base", "fingerprint", "core", "store", "engine", "http", "edge/server",
                    "edge/api"},
    "edge/admin": {"base", "fingerprint", "core", "store", "engine", "operations", "outbox", "http",
                   "edge/server", "edge/gateway", "edge/center"},
    "config": {"base", "net", "log", "fingerprint", "core", "store", "engine", "operations",
               "outbox", "http", "open", "edge/server", "edge/gateway", "edge/center",
               "edge/console"},
    "edge/console": {"base", "fingerprint", "core", "store", "engine", "http", "outbox",
                     "edge/server", "edge/gateway", "edge/api"},
    "open": {"base", "net", "fingerprint", "core", "store", "store/memory"},
    "nats": {"base", "net"},
    "outbox": {"base", "log", "fingerprint", "core", "ids", "store"},
    "outbox/sinks": {"base", "net", "log", "fingerprint", "core", "store",
                     "databases/redis/client", "http", "net/http1", "open", "nats", "outbox"},
    "consumer": {"base", "net", "log", "fingerprint", "core", "store", "databases/redis/client",
                 "engine", "open", "nats", "outbox", "outbox/sinks"},
    "outbox/open": {"base", "net", "store", "open", "outbox"},
    "semel": {"base", "log", "fingerprint", "core", "ids", "store", "engine", "open"},
}

# Every database has a public header, and rooms of the same kind. A room may know those before it.
ROOMS = {
    "client": {"base", "fingerprint", "core", "store", "transaction"},
    "store": {"base", "fingerprint", "core", "store"},
    "front": {"base", "fingerprint", "core", "store"},
    "transaction": {"base", "fingerprint", "core", "store", "transaction", "sql"},
    "outbox": {"base", "core", "store", "outbox"},
}
DATABASES = {
    "sqlite": ["client", "store", "transaction", "outbox"],
    "postgres": ["client", "store", "transaction", "outbox"],
    "mysql": ["client", "store", "transaction", "outbox"],
    "redis": ["client", "store", "front"],
}
for database, rooms in DATABASES.items():
    before = {f"databases/{database}"}
    LAYERS[f"databases/{database}"] = {"base", "log", "fingerprint", "core", "store"}
    for room in rooms:
        LAYERS[f"databases/{database}/{room}"] = ROOMS[room] | before
        before.add(f"databases/{database}/{room}")
    LAYERS["open"] |= {f"databases/{database}", *(f"databases/{database}/{room}"
                                                  for room in rooms[:2])}
    LAYERS["outbox/open"] |= {f"databases/{database}", f"databases/{database}/outbox"}
LAYERS["databases/redis"].add("net")
LAYERS["databases/redis/client"] |= {"net", "log"}

BOOST_ALLOWED = ("include/semel/asio", "include/semel/http/beast", "src/edge/", "tests/",
                 "examples/", "apps/", "benchmarks/")

GRPC_ALLOWED = ("include/semel/grpc", "src/grpc/", "tests/", "examples/", "benchmarks/")
