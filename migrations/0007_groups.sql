-- What is known of a group of a number of the business API (model/contacts/business-group); null: the contact is a
-- person, or a group that only linked devices see.
ALTER TABLE contacts ADD COLUMN business_group jsonb;
