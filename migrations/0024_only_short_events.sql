-- contract after 1.1
-- Events of messages no longer repeat the rows of message and contact, which processes of 1.0 need.
CREATE OR REPLACE FUNCTION events_repeat_rows() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT false $$;
