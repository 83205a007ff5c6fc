import type pg from 'pg'
import { newId } from '../src/lib/bytes/id.js'
import { formsOf } from '../src/model/contacts/phone-number.js'

export const CONTACTS = 10_000
export const MESSAGES = 1_000_000

/**
 * The size of an organization's data. A tenth of the messages belong to the first contact; the others share the rest.
 */
export interface Amount {
  contacts: number
  messages: number
}

/**
 * The number of the contact with this index, digits only: a Brazilian mobile, which has an old and a new form. None
 * ends like a magic test number of the simulator.
 */
export function numberOf(index: number): string {
  return `55119${80_100_000 + index}`
}

/** The number of a random contact. */
export function anyNumber(): string {
  return numberOf(Math.floor(Math.random() * CONTACTS))
}

// In the order of arrival: the long conversation's messages are spread among all the others.
const insertMessages = `
  INSERT INTO messages (organization_id, id, contact_id, seq, upstream_id, sender_type, message_type, text, media_type,
    content, status, created_at, recorded_at, accepted_at, delivered_at, read_at, instance_id, gateway_type)
  SELECT $1, uuidv7(at - now()), contact_id, seq, 'wamid.' || encode(sha256(i::text::bytea), 'base64'),
    CASE i % 3 WHEN 0 THEN 'user-chat' WHEN 1 THEN 'bot-chat' ELSE 'human-chat' END,
    CASE WHEN is_image THEN 'image' ELSE 'text' END,
    (ARRAY['Hello, is the blue one still to be had in size 42?', 'Yes, there are three left. Shall I put one aside for you?',
      'Please do. When can I come by, and may I pay by card?', 'We are open until seven; cards are fine.',
      'Your order 1001 has left our house and will be with you within two working days. You can follow it under the link in your mail.',
      'Thanks!', 'Não recebi o código, podem enviar outra vez?'])[1 + i % 7] || ' #' || i,
    CASE WHEN is_image THEN 'image' END,
    CASE WHEN is_image THEN jsonb_build_object('image', jsonb_build_object('id', i::text, 'mime_type', 'image/jpeg')) END,
    CASE WHEN i % 3 = 0 THEN 'delivered' ELSE 'read' END,
    at, at, at, at, CASE WHEN i % 3 <> 0 THEN at END, $5,
    CASE WHEN is_image THEN 'imageMessage' ELSE 'conversation' END
  FROM (
    SELECT i, now() - make_interval(secs => 10.0 * ($3 - i)) AS at, i % 20 = 7 AS is_image,
      CASE WHEN i % 10 = 0 THEN ($2::uuid[])[1] ELSE ($2::uuid[])[2 + (i - i / 10 - 1) % ($4 - 1)] END AS contact_id,
      CASE WHEN i % 10 = 0 THEN i / 10 ELSE 1 + (i - i / 10 - 1) / ($4 - 1) END AS seq
    FROM generate_series(1, $3::int) AS i
  ) AS newest`

const insertReactions = `
  INSERT INTO messages (organization_id, id, contact_id, upstream_id, sender_type, message_type, text, status,
    context_upstream_id, created_at, recorded_at, accepted_at, delivered_at, instance_id, gateway_type)
  SELECT organization_id, uuidv7(), contact_id, upstream_id || 'r', 'user-chat', 'reaction', '👍', 'delivered',
    upstream_id, created_at, created_at, created_at, created_at, instance_id, 'reactionMessage'
  FROM messages WHERE organization_id = $1 AND seq % 100 = 50`

const insertContacts = `
  INSERT INTO contacts (organization_id, id, chat_id, phone_number, full_name, email, tags, source, last_seq, last_inbound_at)
  SELECT $1, given.id, given.number, '+' || given.number, 'Ana Silva ' || given.index, 'ana.' || given.index || '@example.com',
    ARRAY['customer', 'newsletter'], '{"type": "inbound_message"}', newest.last_seq, newest.last_at
  FROM unnest($2::uuid[], $3::text[]) WITH ORDINALITY AS given (id, number, index)
  JOIN (
    SELECT contact_id, max(seq) AS last_seq, max(created_at) AS last_at
    FROM messages WHERE organization_id = $1 GROUP BY contact_id
  ) AS newest ON newest.contact_id = given.id`

const countMessages = `
  INSERT INTO line_counts (organization_id, instance_id, change)
  SELECT organization_id, instance_id, count(*) FROM messages
  WHERE organization_id = $1 AND instance_id IS NOT NULL AND seq IS NOT NULL
  GROUP BY organization_id, instance_id`

const insertAddresses = `
  INSERT INTO contact_addresses (organization_id, address, contact_id)
  SELECT $1, address, id FROM unnest($2::text[], $3::uuid[]) AS given (address, id)`

/**
 * Fills the organization with contacts and conversations, as the service itself would write them. `instanceId` is the
 * channel of all messages; null is the organization's own number.
 */
export async function loadData(
  database: pg.Pool,
  organizationId: string,
  amount: Amount = { contacts: CONTACTS, messages: MESSAGES },
  instanceId: string | null = null,
): Promise<void> {
  const contacts = Array.from({ length: amount.contacts }, (_, index) => ({ id: newId(), number: numberOf(index) }))
  const ids = contacts.map(({ id }) => id)
  const addresses = contacts.flatMap(({ id, number }) => formsOf(number).map((address) => ({ address, id })))
  await database.query(insertMessages, [organizationId, ids, amount.messages, amount.contacts, instanceId])
  await database.query(insertReactions, [organizationId])
  await database.query(countMessages, [organizationId])
  await database.query(insertContacts, [organizationId, ids, contacts.map(({ number }) => number)])
  await database.query(insertAddresses, [
    organizationId,
    addresses.map(({ address }) => address),
    addresses.map(({ id }) => id),
  ])
  await database.query('VACUUM (ANALYZE)')
  await checkData(database, organizationId, amount)
}

/** Checks the data, because results from other data would mislead. */
async function checkData(database: pg.Pool, organizationId: string, amount: Amount): Promise<void> {
  const { rows } = await database.query(
    'SELECT count(*)::int AS contacts, sum(last_seq)::int AS messages, max(last_seq)::int AS longest FROM contacts WHERE organization_id = $1',
    [organizationId],
  )
  const { contacts, messages, longest } = rows[0]
  if (contacts === amount.contacts && messages === amount.messages && longest === amount.messages / 10) return
  throw new Error(`the data is not as expected: ${JSON.stringify(rows[0])}`)
}
