-- The instance through which a conversation was archived, on its phone too; null: archived by the organization alone.
ALTER TABLE contacts ADD COLUMN archived_through uuid;
