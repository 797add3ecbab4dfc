-- Events on their way out, who relays them, and (by choice) those that have gone.
--
-- Times are microseconds since 1970 on the server's clock. Zero is a value, not an absence: a fresh
-- row has next_retry_time = 0 and lock_until = 0, so that every claim is one range of idx_claim.

CREATE TABLE IF NOT EXISTS semel_outbox (
    id              BIGINT NOT NULL AUTO_INCREMENT,
    shard_id        INT NOT NULL,
    status          TINYINT NOT NULL DEFAULT 0, -- 0 pending, 1 claimed, 2 dead, 3 parked
    next_retry_time BIGINT NOT NULL DEFAULT 0,
    lock_until      BIGINT NOT NULL DEFAULT 0,
    lock_time       BIGINT NOT NULL DEFAULT 0,
    lock_token      BIGINT NOT NULL DEFAULT 0,
    lock_owner      BINARY(16) NOT NULL DEFAULT '',
    attempts        INT NOT NULL DEFAULT 0,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    event_id        VARBINARY(26) NOT NULL,
    topic           VARBINARY(255) NOT NULL,
    message_key     VARBINARY(255) NOT NULL,
    headers         BLOB NOT NULL, -- `name: value`, a line each
    trace_context   BLOB NOT NULL, -- the same for traceparent and tracestate
    last_error      BLOB,
    payload         LONGBLOB NOT NULL,
    PRIMARY KEY (id),
    KEY idx_claim (shard_id, status, next_retry_time, lock_until, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET binary;

-- Ordered relays own shards. Rows with a negative number are the relays themselves: as many as have
-- not lapsed share the shards.
CREATE TABLE IF NOT EXISTS semel_outbox_shard (
    shard_id   INT NOT NULL,
    epoch      BIGINT NOT NULL DEFAULT 0,
    lock_until BIGINT NOT NULL DEFAULT 0, -- 0: given back
    updated_at BIGINT NOT NULL DEFAULT 0,
    owner      BINARY(16) NOT NULL DEFAULT '',
    PRIMARY KEY (shard_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET binary;

CREATE TABLE IF NOT EXISTS semel_outbox_archive (
    id            BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    archived_at   BIGINT NOT NULL,
    shard_id      INT NOT NULL,
    attempts      INT NOT NULL,
    event_id      VARBINARY(26) NOT NULL,
    topic         VARBINARY(255) NOT NULL,
    message_key   VARBINARY(255) NOT NULL,
    headers       BLOB NOT NULL,
    trace_context BLOB NOT NULL,
    payload       LONGBLOB NOT NULL,
    PRIMARY KEY (id),
    KEY age (archived_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET binary;
