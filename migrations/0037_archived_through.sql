-- The instance on whose phone an archived conversation is archived too; null: in Parley alone, or not archived.
ALTER TABLE contacts ADD COLUMN archived_through uuid;
