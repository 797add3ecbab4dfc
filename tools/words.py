"""Names of types: which may stand in two rooms, and which may be a participle. For tools/tidy.

docs/words.md has the words themselves. A name is added here only with a reason.
"""

# The same name in different rooms, each in a namespace of its own.
SAME_NAMES = {
    "connection": "to one server, in the namespace of its protocol",
    "connection_options": "as connection",
    "ending": "of a transaction in databases, of work in the engine",
    "lane_options": "of a store's lane, of a webhook's",
    "listener": "of clients at the edge, of notifications in Redis",
    "message": "consume() takes one from any queue, a relay takes one from the outbox",
    "protected_call": "one idea, for HTTP and for gRPC",
    "request": "to the engine, and HTTP's own word",
    "scope": "of a token, as OAuth says; of a thread that gRPC calls run under",
    "session": "of a client at the edge, with a database server in databases",
    "value": "of a configuration, of a Redis reply",
}

# Types whose names end with a participle. Alternatives of a variant are not among them: there the
# variant is the noun, and its namespace says which one.
PARTICIPLES = {
    "applied": "what apply() returns",
    "caller_gone": "thrown; the event is the name",
    "consumed": "the outcome of consume()",
    "decoded": "what decode() returns",
    "delivered": "what became of an event",
    "detached": "a task that has no waiter",
    "drained": "how a drain has ended",
    "exchanged": "what exchange() returns",
    "executed": "what execute() returns",
    "expected": "a row that a begin expects",
    "handled": "what became of a message",
    "known": "records that the checker knows",
    "mismatch_seen": "an event",
    "nothing_sent": "an alternative of upstream_result",
    "on_locked": "a policy: what happens when the record is locked",
    "opened": "what open() returns",
    "parameterised": "a header's value with its parameters",
    "parsed": "what parse() returns",
    "prepared": "a statement that is prepared",
    "received": "a message that has come in",
    "recycled": "an allocator, of memory that is used again",
    "released": "an attempt that was given back",
    "response_released": "thrown; the event is the name",
    "rows_read": "what read_rows() returns",
    "scanned": "what a scan returns",
    "settled": "what settle() returns",
    "shard_read": "what advance() returns",
    "shards_seen": "what attend() returns",
    "unencrypted": "a policy: what happens to results without encryption",
}

# Namespaces of alternatives.
ALTERNATIVES = ("answers", "probes", "begin_steps", "complete_steps", "orphan_steps")
