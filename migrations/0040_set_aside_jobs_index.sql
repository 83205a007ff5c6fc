-- no transaction
-- Jobs that are set aside because processes died with them, in the order in which they are repeated.
CREATE INDEX CONCURRENTLY IF NOT EXISTS jobs_set_aside ON jobs (run_at) WHERE failed_at IS NOT NULL AND deaths > 0;
