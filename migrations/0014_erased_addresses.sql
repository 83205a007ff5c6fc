-- Addresses of people who were erased while the history of a phone came in, which would bring them back. The history is
-- known by its row, which is there as soon as its first part is; phone_history_chunks.erased is not used any more.
CREATE TABLE erased_addresses (
  organization_id uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  hash            bytea NOT NULL, -- of organization and address, so that the row alone tells of nobody
  erased_at       timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, hash)
);
CREATE INDEX erased_addresses_old ON erased_addresses (erased_at);
