-- contract after 0.2
-- The words of an erased contact are deleted in slices after its row. Version 0.1 left them to this foreign key.
ALTER TABLE message_search DROP CONSTRAINT message_search_organization_id_contact_id_fkey;
