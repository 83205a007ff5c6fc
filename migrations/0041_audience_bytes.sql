-- The files of an organization's audiences may have so many bytes together. Older audiences, which are deleted after
-- seven days, do not count.
ALTER TABLE audiences ADD COLUMN bytes bigint NOT NULL DEFAULT 0;
