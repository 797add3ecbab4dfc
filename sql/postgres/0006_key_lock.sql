-- The number of a key, as a parameter. A statement reads its parameters first and looks at the
-- tables afterwards, so whoever asks with it has the key's lock before it looks, and is spared a
-- statement. Where somebody else holds the key, it says so for the rest of the transaction: an
-- error would stand in the server's log for every repeat that comes too early.
CREATE DOMAIN semel_key_lock AS bigint CHECK (
    CASE WHEN pg_try_advisory_xact_lock(VALUE) THEN true
         ELSE set_config('semel.taken', VALUE::text, true) = VALUE::text
    END
);
