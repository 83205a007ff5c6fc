/** Inserts $2 contacts of organization $1. */
export const insertContacts = `
  WITH made AS (
    INSERT INTO contacts (organization_id, id, chat_id, phone_number, full_name, tags, source)
    SELECT $1, uuidv7(), number, '+' || number, 'Ana Silva ' || number, '{vip}', '{"type": "import"}'
    FROM (SELECT (5511970000000 + i * 10 + 7)::text AS number FROM generate_series(1, $2::bigint) AS i) numbers
    RETURNING id, chat_id
  )
  INSERT INTO contact_addresses (organization_id, address, contact_id) SELECT $1, chat_id, id FROM made`

/** Inserts $2 message events of the $3 contacts in rotation, as the statement for a callback would raise them. */
export const insertEvents = `
  INSERT INTO events (organization_id, id, type, contact_id, data)
  SELECT $1, uuidv7(), 'message.received', c.id, jsonb_build_object('contact', to_jsonb(c), 'message', jsonb_build_object(
    'organization_id', $1::uuid, 'id', uuidv7(), 'contact_id', c.id, 'seq', i, 'upstream_id', 'wamid.' || i, 'sender_type', 'user-chat',
    'message_type', 'text', 'text', 'Good morning, where is my order number ' || i || '? It should have been here on Monday.',
    'media_type', NULL, 'media_id', NULL, 'media_expires_at', NULL, 'transcription', NULL, 'content', NULL, 'status', 'delivered',
    'outcome', NULL, 'error', NULL, 'context_upstream_id', NULL, 'created_at', now()))
  FROM generate_series(0, $2::bigint - 1) AS i
  JOIN (SELECT c.*, row_number() OVER (ORDER BY id) - 1 AS n FROM contacts c WHERE organization_id = $1) c ON c.n = i % $3`

/** Wakes the processes that deliver events. */
export const notification = `SELECT pg_notify('parley_signals', '{"from": 0, "signals": [{"topic": "events", "organizationIds": null}]}')`
