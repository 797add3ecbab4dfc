-- Records, their checkpoints, the audit trail and the store's own facts.
--
-- `semel_` stands for the configured table prefix. Times are microseconds since 1970 on the
-- server's clock; 0 means "none". Keys and texts are binary: keys are bytes, compared as bytes.
--
-- Every CREATE TABLE commits by itself, so each statement may meet what an earlier run left behind.

CREATE TABLE IF NOT EXISTS semel_meta (
    name  VARBINARY(64) NOT NULL,
    value BIGINT NOT NULL,
    PRIMARY KEY (name)
) ENGINE = InnoDB DEFAULT CHARACTER SET binary;

-- The highest fence that was ever removed with its record.
INSERT IGNORE INTO semel_meta (name, value) VALUES ('fence_floor', 0);

-- due_at is what the sweeper and operators look for: lease_until while the record is processing,
-- expires_at once it is finished. One narrow index instead of two, because each of them would be
-- written twice per execution.
CREATE TABLE IF NOT EXISTS semel_record (
    tenant          VARBINARY(255) NOT NULL,
    operation       VARBINARY(255) NOT NULL,
    `key`           VARBINARY(1024) NOT NULL,
    version         BIGINT NOT NULL, -- another one with every change
    state           TINYINT NOT NULL DEFAULT 0, -- 0 processing, 1 succeeded, 2, 3 failed
    fence           BIGINT NOT NULL,
    owner           BINARY(16) NOT NULL,
    attempts        BIGINT NOT NULL DEFAULT 1,
    lease_until     BIGINT NOT NULL,
    begun_at        BIGINT NOT NULL,
    retry_after     BIGINT NOT NULL DEFAULT 0,
    expires_at      BIGINT NOT NULL DEFAULT 0,
    due_at          BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    on_lease_expiry TINYINT NOT NULL, -- 0 retry, 1 hold, 2 probe
    attempts_max    BIGINT NOT NULL,
    grace           BIGINT NOT NULL,
    processing_max  BIGINT NOT NULL,
    fingerprint     VARBINARY(32),
    checkpoints     SMALLINT NOT NULL DEFAULT 0, -- how many rows semel_checkpoint has for it
    result_kind     TINYINT NOT NULL DEFAULT 0, -- 0 value, 1 rejection, 2 tombstone
    result_checksum BIGINT NOT NULL DEFAULT 0,
    result_type     VARBINARY(1024) NOT NULL DEFAULT '',
    result_ref      VARBINARY(1024) NOT NULL DEFAULT '',
    error           LONGBLOB,
    attributes      LONGBLOB,
    result          LONGBLOB,
    PRIMARY KEY (tenant, operation, `key`),
    KEY due (state, due_at),
    KEY ref (result_ref(64))
) ENGINE = InnoDB DEFAULT CHARACTER SET binary;

CREATE TABLE IF NOT EXISTS semel_checkpoint (
    tenant    VARBINARY(255) NOT NULL,
    operation VARBINARY(255) NOT NULL,
    `key`     VARBINARY(1024) NOT NULL,
    position  BIGINT NOT NULL,
    name      VARBINARY(1024) NOT NULL,
    data      LONGBLOB NOT NULL,
    PRIMARY KEY (tenant, operation, `key`, position)
) ENGINE = InnoDB DEFAULT CHARACTER SET binary;

CREATE TABLE IF NOT EXISTS semel_audit (
    id        BIGINT NOT NULL AUTO_INCREMENT,
    tenant    VARBINARY(255) NOT NULL,
    operation VARBINARY(255) NOT NULL,
    `key`     VARBINARY(1024) NOT NULL,
    at        BIGINT NOT NULL,
    act       LONGBLOB NOT NULL,
    actor     LONGBLOB NOT NULL,
    reason    LONGBLOB NOT NULL,
    fence     BIGINT NOT NULL,
    PRIMARY KEY (id),
    KEY record (tenant, operation, `key`)
) ENGINE = InnoDB DEFAULT CHARACTER SET binary;
