-- contract after 1.1
-- Processes of 1.0 are gone, which read neither short events nor packed bodies.
CREATE OR REPLACE FUNCTION writes_as_1_0() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT false $$;
