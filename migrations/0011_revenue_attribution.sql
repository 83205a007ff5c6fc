-- Whose an order is: which broadcast or send-template led to it.

-- How long after a click, or after the message, an order is still due to it.
ALTER TABLE organizations ADD COLUMN attribution_window_days integer NOT NULL DEFAULT 7;

-- contact_id: the buyer, where the order's phone number or e-mail address is a contact's; neither is kept. clicked_*: the last
-- visit of a link that the buyer alone was given, and what gave it; found when the order is recorded, since visits are pruned.
ALTER TABLE storefront_orders
  ADD COLUMN contact_id uuid,
  ADD COLUMN clicked_broadcast_id uuid,
  ADD COLUMN clicked_at timestamptz,
  ADD FOREIGN KEY (organization_id, contact_id) REFERENCES contacts (organization_id, id)
    ON DELETE SET NULL (contact_id) NOT VALID;
-- The indexes of these columns are built by 0013, while others write.

-- Which short links were given to whom. n: the recipient's own link; 0: that of all recipients of a broadcast, or of the one of a
-- send-template, whose campaign_id is then another one than its broadcast_id. campaign: of the link, in lower case.
CREATE TABLE sent_links (
  organization_id uuid NOT NULL,
  broadcast_id    uuid NOT NULL,
  n               integer NOT NULL,
  code            text NOT NULL,
  campaign_id     uuid NOT NULL,
  campaign        text NOT NULL,
  noted_at        timestamptz NOT NULL, -- right before it is sent
  PRIMARY KEY (organization_id, broadcast_id, n, code)
);
CREATE INDEX sent_links_code ON sent_links (organization_id, code, broadcast_id, n);
CREATE INDEX sent_links_singles ON sent_links (organization_id, campaign, noted_at) WHERE campaign_id <> broadcast_id;

-- When links were followed; pruned, while short_links.clicks keeps the count.
CREATE TABLE short_link_visits (
  organization_id uuid NOT NULL,
  code            text NOT NULL,
  visited_at      timestamptz NOT NULL,
  id              bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  PRIMARY KEY (organization_id, code, visited_at, id)
);
