-- Records, their checkpoints, the audit trail and the store's own facts.
--
-- `semel_` stands for the configured table prefix. Times are microseconds since 1970 on the store's
-- clock; 0 means "none". All texts are BLOBs: keys are bytes, compared as bytes.

CREATE TABLE semel_meta (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The highest fence that was ever removed with its record.
INSERT INTO semel_meta (name, value) VALUES ('fence_floor', 0);

-- A rowid table: with random keys a completion then rewrites the page its begin has just written,
-- and only the narrow key index is touched at random. Large results go to overflow pages, hence the
-- result comes last.
CREATE TABLE semel_record (
    id              INTEGER PRIMARY KEY,
    tenant          BLOB NOT NULL,
    operation       BLOB NOT NULL,
    key             BLOB NOT NULL,
    state           INTEGER NOT NULL, -- 0 processing, 1 succeeded, 2 failed retryable, 3 failed
    fence           INTEGER NOT NULL,
    owner           BLOB NOT NULL,
    attempts        INTEGER NOT NULL,
    lease_until     INTEGER NOT NULL,
    begun_at        INTEGER NOT NULL,
    retry_after     INTEGER NOT NULL,
    expires_at      INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    on_lease_expiry INTEGER NOT NULL, -- 0 retry, 1 hold, 2 probe
    attempts_max    INTEGER NOT NULL,
    grace           INTEGER NOT NULL,
    processing_max  INTEGER NOT NULL,
    fingerprint     BLOB,
    checkpoints     INTEGER NOT NULL, -- how many rows semel_checkpoint has for this record
    result_kind     INTEGER NOT NULL, -- 0 value, 1 rejection, 2 tombstone
    result_checksum INTEGER NOT NULL,
    result_type     BLOB NOT NULL,
    result_ref      BLOB NOT NULL,
    error           BLOB NOT NULL,
    attributes      BLOB NOT NULL,
    result          BLOB NOT NULL,
    UNIQUE (tenant, operation, key)
) STRICT;

-- For the sweeper: what has expired, and what nobody came back for.
CREATE INDEX semel_record_expired ON semel_record (expires_at) WHERE state <> 0;
CREATE INDEX semel_record_forsaken ON semel_record (begun_at + processing_max)
    WHERE state = 0 AND on_lease_expiry = 0;
-- For operators and the reconciler.
CREATE INDEX semel_record_lapsed ON semel_record (lease_until) WHERE state = 0;
CREATE INDEX semel_record_ref ON semel_record (result_ref) WHERE result_ref <> x'';

CREATE TABLE semel_checkpoint (
    record   INTEGER NOT NULL, -- semel_record.id
    position INTEGER NOT NULL,
    name     BLOB NOT NULL,
    data     BLOB NOT NULL,
    UNIQUE (record, position)
) STRICT;

CREATE TABLE semel_audit (
    id        INTEGER PRIMARY KEY,
    tenant    BLOB NOT NULL,
    operation BLOB NOT NULL,
    key       BLOB NOT NULL,
    at        INTEGER NOT NULL,
    act       BLOB NOT NULL,
    actor     BLOB NOT NULL,
    reason    BLOB NOT NULL,
    fence     INTEGER NOT NULL
) STRICT;

CREATE INDEX semel_audit_record ON semel_audit (tenant, operation, key);
