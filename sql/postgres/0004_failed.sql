-- For operators, who look for the few that failed among the many that did not.

CREATE INDEX semel_record_failed ON semel_record (tenant, operation, key) WHERE state >= 2;
