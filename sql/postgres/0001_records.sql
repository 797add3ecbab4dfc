-- Records, their checkpoints, the audit trail and the store's own facts.
--
-- `semel_` stands for the configured table prefix. Times are microseconds since 1970 on the
-- server's clock; 0 means "none". Keys and texts are bytea: keys are bytes, compared as bytes.

CREATE TABLE semel_meta (
    name  text COLLATE "C" PRIMARY KEY,
    value bigint NOT NULL
);

-- The highest fence that was ever removed with its record.
INSERT INTO semel_meta (name, value) VALUES ('fence_floor', 0);

-- Rows are written twice in quick succession: the room that is left lets the second version lie on
-- the page of the first. The order of the columns avoids padding.
CREATE TABLE semel_record (
    fence           bigint NOT NULL,
    lease_until     bigint NOT NULL,
    begun_at        bigint NOT NULL,
    retry_after     bigint NOT NULL DEFAULT 0,
    expires_at      bigint NOT NULL DEFAULT 0,
    created_at      bigint NOT NULL,
    updated_at      bigint NOT NULL,
    grace           bigint NOT NULL,
    processing_max  bigint NOT NULL,
    attempts        bigint NOT NULL DEFAULT 1,
    attempts_max    bigint NOT NULL,
    result_checksum bigint NOT NULL DEFAULT 0,
    owner           uuid NOT NULL,
    state           smallint NOT NULL DEFAULT 0, -- 0 processing, 1 succeeded, 2, 3 failed
    on_lease_expiry smallint NOT NULL, -- 0 retry, 1 hold, 2 probe
    checkpoints     smallint NOT NULL DEFAULT 0, -- how many rows semel_checkpoint has for it
    result_kind     smallint NOT NULL DEFAULT 0, -- 0 value, 1 rejection, 2 tombstone
    tenant          bytea NOT NULL,
    operation       bytea NOT NULL,
    key             bytea NOT NULL,
    fingerprint     bytea,
    result_type     bytea NOT NULL DEFAULT '',
    result_ref      bytea NOT NULL DEFAULT '',
    error           bytea NOT NULL DEFAULT '',
    attributes      bytea NOT NULL DEFAULT '',
    result          bytea NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, operation, key)
) WITH (fillfactor = 85);

-- For the sweeper.
CREATE INDEX semel_record_expired ON semel_record (expires_at) WHERE state <> 0;
-- For the sweeper, operators and the reconciler.
CREATE INDEX semel_record_running ON semel_record (lease_until) WHERE state = 0;
CREATE INDEX semel_record_ref ON semel_record (result_ref) WHERE result_ref <> '';

CREATE TABLE semel_checkpoint (
    tenant    bytea NOT NULL,
    operation bytea NOT NULL,
    key       bytea NOT NULL,
    position  bigint NOT NULL,
    name      bytea NOT NULL,
    data      bytea NOT NULL,
    PRIMARY KEY (tenant, operation, key, position)
);

CREATE TABLE semel_audit (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant    bytea NOT NULL,
    operation bytea NOT NULL,
    key       bytea NOT NULL,
    at        bigint NOT NULL,
    act       bytea NOT NULL,
    actor     bytea NOT NULL,
    reason    bytea NOT NULL,
    fence     bigint NOT NULL
);

CREATE INDEX semel_audit_record ON semel_audit (tenant, operation, key);
