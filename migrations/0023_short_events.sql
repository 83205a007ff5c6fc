-- Events of messages without the rows of message and contact (docs/decisions/events.md).

-- The message whose row readers add to the event; null: the event has all that it shows.
ALTER TABLE events ADD COLUMN message_id uuid;

-- Whether such events still repeat the rows: processes of 1.0 read nothing else.
CREATE FUNCTION events_repeat_rows() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT true $$;
