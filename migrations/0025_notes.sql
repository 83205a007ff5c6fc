-- The notes of a message, the newest first; what is written as 1.0 does is in trace. It is the last column on purpose: an
-- update does not log again what the old and the new row have in common at their ends.
ALTER TABLE messages ADD COLUMN notes jsonb;
