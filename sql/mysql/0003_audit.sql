-- From which state to which an operator or reconciler brought a record; -1: none, or not known.
--
-- ALTER TABLE commits by itself, so an earlier run may have left the columns behind; MySQL knows no
-- ADD COLUMN IF NOT EXISTS.

SET @semel_alter = IF((SELECT COUNT(*) FROM information_schema.columns
                       WHERE table_schema = DATABASE() AND table_name = 'semel_audit'
                         AND column_name = 'from_state') > 0,
    'DO 0',
    CONCAT('ALTER TABLE semel_audit ADD COLUMN from_state BIGINT NOT NULL DEFAULT -1,',
           ' ADD COLUMN to_state BIGINT NOT NULL DEFAULT -1'));
PREPARE semel_alter FROM @semel_alter;
EXECUTE semel_alter;
DEALLOCATE PREPARE semel_alter;
