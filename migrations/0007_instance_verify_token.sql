-- Instances with a number of their own: the verify token by which the upstream makes sure of where their callbacks go.

ALTER TABLE instances ADD COLUMN verify_token_hash bytea; -- null: none was given
CREATE INDEX instances_verify_token ON instances (verify_token_hash) WHERE verify_token_hash IS NOT NULL;
