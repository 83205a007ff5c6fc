/** Inserts $2 contacts of organization $1. */
export const insertContacts = `
  WITH made AS (
    INSERT INTO contacts (organization_id, id, chat_id, phone_number, full_name, tags, source)
    SELECT $1, uuidv7(), number, '+' || number, 'Ana Silva ' || number, '{vip}', '{"type": "import"}'
    FROM (SELECT (5511970000000 + i * 10 + 7)::text AS number FROM generate_series(1, $2::bigint) AS i) numbers
    RETURNING id, chat_id
  )
  INSERT INTO contact_addresses (organization_id, address, contact_id) SELECT $1, chat_id, id FROM made`

/**
 * Inserts $2 messages of the $3 contacts in rotation, with their events as the statement for a callback would raise them.
 * The messages have no numbers, so that it can be repeated.
 */
export const insertEvents = `
  WITH made AS (
    INSERT INTO messages (organization_id, id, contact_id, upstream_id, sender_type, message_type, text, status, created_at)
    SELECT $1, uuidv7(), c.id, 'wamid.' || gen_random_uuid(), 'user-chat', 'text',
      'Good morning, where is my order number ' || i || '? It should have been here on Monday.', 'delivered', now()
    FROM generate_series(0, $2::bigint - 1) AS i
    JOIN (SELECT c.id, row_number() OVER (ORDER BY id) - 1 AS n FROM contacts c WHERE organization_id = $1) c ON c.n = i % $3
    RETURNING id, contact_id
  )
  INSERT INTO events (organization_id, id, type, contact_id, message_id, data)
  SELECT $1, uuidv7(), 'message.received', contact_id, id, '{"message": {"status": "delivered"}}' FROM made`

/** Wakes the processes that deliver events. */
export const notification = `SELECT pg_notify('parley_signals', '{"from": 0, "signals": [{"topic": "events", "organizationIds": null}]}')`
