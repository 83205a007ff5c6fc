-- contract after 0.1
-- Only states of Parley before 0.1 used it.
ALTER TABLE webhook_feeds DROP COLUMN holder;
