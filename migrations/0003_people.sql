-- Who a contact is: the upstream's ids and username of a person.

ALTER TABLE contacts
  ADD COLUMN user_id text, -- the upstream's newest user id of the person; a copy of the address, so that events have it
  ADD COLUMN parent_user_id text; -- the id that is valid in all linked portfolios
