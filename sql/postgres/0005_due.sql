-- Two indexes instead of four with conditions, each of which had to be made ready for every single
-- statement that writes.

-- For the sweeper, operators and the reconciler: running records have no expires_at and lie in the
-- order of their leases, finished ones in the order in which they expire.
CREATE INDEX semel_record_due ON semel_record (state, expires_at, lease_until);

-- For operators, who look for a reference, or for the few that failed, which have none.
CREATE INDEX semel_record_sought ON semel_record (result_ref, tenant, operation, key)
    WHERE state >= 2 OR result_ref <> '';

DROP INDEX semel_record_expired;
DROP INDEX semel_record_running;
DROP INDEX semel_record_ref;
DROP INDEX semel_record_failed;
