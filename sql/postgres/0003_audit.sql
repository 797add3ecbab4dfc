-- From which state to which an operator or reconciler brought a record; -1: none, or not known.

ALTER TABLE semel_audit ADD COLUMN from_state bigint NOT NULL DEFAULT -1;
ALTER TABLE semel_audit ADD COLUMN to_state bigint NOT NULL DEFAULT -1;
