-- The process that attempts a delivery at the moment (processes.id). A claim ends with its process, so a process that is
-- not there any more claims nothing. Processes of an older version leave the column null; webhook_feeds.holder is theirs
-- alone.
ALTER TABLE webhook_deliveries ADD COLUMN process_id integer;

-- Room on each page for the update that claims a row, which changes no indexed column.
ALTER TABLE webhook_deliveries SET (fillfactor = 75);
