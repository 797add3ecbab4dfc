-- Events on their way out, who relays them, and (by choice) those that have gone.
--
-- Times are microseconds since 1970. Zero is a value, not an absence: a fresh row has
-- next_retry_time = 0 and lock_until = 0, so that every claim is one range of idx_claim.

CREATE TABLE semel_outbox (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    shard_id        INTEGER NOT NULL,
    status          INTEGER NOT NULL DEFAULT 0, -- 0 pending, 1 claimed, 2 dead, 3 parked
    next_retry_time INTEGER NOT NULL DEFAULT 0,
    lock_until      INTEGER NOT NULL DEFAULT 0,
    lock_time       INTEGER NOT NULL DEFAULT 0,
    lock_token      INTEGER NOT NULL DEFAULT 0,
    lock_owner      BLOB NOT NULL DEFAULT x'',
    attempts        INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    event_id        TEXT NOT NULL,
    topic           TEXT NOT NULL,
    message_key     BLOB NOT NULL,
    headers         BLOB NOT NULL, -- `name: value`, a line each
    trace_context   BLOB NOT NULL, -- the same for traceparent and tracestate
    last_error      BLOB NOT NULL DEFAULT x'',
    payload         BLOB NOT NULL
) STRICT;

CREATE INDEX semel_outbox_idx_claim
    ON semel_outbox (shard_id, status, next_retry_time, lock_until, id);

-- Ordered relays own shards. Rows with a negative number are the relays themselves: as many as have
-- not lapsed share the shards.
CREATE TABLE semel_outbox_shard (
    shard_id   INTEGER PRIMARY KEY,
    epoch      INTEGER NOT NULL DEFAULT 0,
    lock_until INTEGER NOT NULL DEFAULT 0, -- 0: given back
    updated_at INTEGER NOT NULL DEFAULT 0,
    owner      BLOB NOT NULL DEFAULT x''
) STRICT;

CREATE TABLE semel_outbox_archive (
    id            INTEGER PRIMARY KEY,
    created_at    INTEGER NOT NULL,
    archived_at   INTEGER NOT NULL,
    shard_id      INTEGER NOT NULL,
    attempts      INTEGER NOT NULL,
    event_id      TEXT NOT NULL,
    topic         TEXT NOT NULL,
    message_key   BLOB NOT NULL,
    headers       BLOB NOT NULL,
    trace_context BLOB NOT NULL,
    payload       BLOB NOT NULL
) STRICT;

CREATE INDEX semel_outbox_archive_age ON semel_outbox_archive (archived_at);
