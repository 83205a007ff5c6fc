-- no transaction
-- The indexes of 0011, on tables that may be large.
CREATE INDEX CONCURRENTLY IF NOT EXISTS storefront_orders_contact ON storefront_orders (organization_id, contact_id)
  WHERE contact_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS storefront_orders_clicked ON storefront_orders (organization_id, clicked_broadcast_id)
  WHERE clicked_broadcast_id IS NOT NULL;

-- Buyers are also found by their e-mail addresses.
CREATE INDEX CONCURRENTLY IF NOT EXISTS contacts_email ON contacts (organization_id, lower(email)) WHERE email IS NOT NULL;
