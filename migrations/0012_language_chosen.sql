-- Whether the organization's language was given. A default says nothing about its customers, so `{{first_name}}` of a
-- contact without a name stays the English word there.
ALTER TABLE organizations ADD COLUMN language_chosen boolean NOT NULL DEFAULT false;
