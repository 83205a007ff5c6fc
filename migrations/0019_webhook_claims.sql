-- The process that has claimed a delivery (processes.id). The claim of a process that is not in `processes` is void.
-- Processes of an older version leave the column null; only they use webhook_feeds.holder.
ALTER TABLE webhook_deliveries ADD COLUMN process_id integer;

-- Leaves room on each page, so that the update that claims a row, which changes no indexed column, is a HOT update.
ALTER TABLE webhook_deliveries SET (fillfactor = 75);
