import type pg from 'pg'
import { normalizeText } from '../src/lib/text/normalize.js'
import { formsOf, readInternational } from '../src/model/contacts/phone-number.js'
import {
  ACCENTED,
  ENDS,
  FIRST_NAMES,
  OPENINGS,
  RARE_NAME,
  RARE_TEXT,
  SUBJECTS,
  SURNAMES,
  UNACCENTED,
} from './scale-texts.js'

/** The size of a database. */
export interface Shape {
  messages: number
  contacts: number
  /** Contacts of the first organization, which is measured; the others share the rest. */
  contactsOfFirst: number
  /** Messages of contact 0. */
  longest: number
}

export const ORGANIZATIONS = 100
/** Messages of contact 1, the same for any size, so that its pages can be compared. */
export const MIDDLE_CONVERSATION = 1_000

/** A tenth of all messages is in one conversation, and half of all contacts belong to one organization. */
export function shapeOf(messages: number): Shape {
  const contacts = messages / 100
  return { messages, contacts, contactsOfFirst: contacts / 2, longest: messages / 10 }
}

/** The number of the contact with this index, digits only: Brazilian mobiles in scattered order. */
export function numberOf(index: number): string {
  return `55119${60_000_000 + ((index * NUMBER_STEP) % NUMBERS)}`
}

const NUMBERS = 40_000_000
/** Coprime to the above, so that no number repeats. */
const NUMBER_STEP = 7_919
const SECONDS_BETWEEN_MESSAGES = 3

const insertOrganizations = `
  INSERT INTO organizations (id, name, slug, default_country, timezone, currency, language)
  SELECT uuidv7(), 'Bench ' || i, 'bench-' || i, 'BR', 'America/Sao_Paulo', 'BRL', 'pt_BR'
  FROM generate_series(1, $1::int - 1) AS i`

const planContacts = `
  CREATE UNLOGGED TABLE scale_contacts AS
  SELECT i AS index, uuidv7() AS id, '55119' || 60000000 + i::bigint * ${NUMBER_STEP} % ${NUMBERS} AS number, o.id AS organization_id
  FROM generate_series(0, $1::int - 1) AS i
  JOIN (
    SELECT id, row_number() OVER (ORDER BY slug <> 'bench', slug) - 1 AS place FROM organizations
  ) AS o ON o.place = CASE WHEN i < $2 THEN 0 ELSE 1 + i % (${ORGANIZATIONS} - 1) END`

// In the order of arrival: every conversation's messages are spread among all the others. One message of ten belongs to
// contact 0; of the others ("rest", numbered from 0) one of each stride belongs to contact 1; the remaining ones go to
// all other contacts in rotation.
const insertMessages = `
  INSERT INTO messages (organization_id, id, contact_id, seq, upstream_id, sender_type, message_type, text, media_type,
    content, status, created_at, recorded_at, accepted_at, delivered_at, read_at, gateway_type)
  SELECT c.organization_id, uuidv7(at - now()), c.id, seq, 'wamid.' || encode(sha256(i::text::bytea), 'base64'),
    CASE i % 3 WHEN 0 THEN 'user-chat' WHEN 1 THEN 'bot-chat' ELSE 'human-chat' END,
    CASE WHEN is_image THEN 'image' ELSE 'text' END,
    CASE WHEN (hash >> 20) % 10000 = 0 THEN $7 ELSE
      ($4::text[])[1 + (hash & 31)] || ' ' || ($5::text[])[1 + (hash >> 5 & 31)] || ' ' || ($6::text[])[1 + (hash >> 10 & 31)] END,
    CASE WHEN is_image THEN 'image' END,
    CASE WHEN is_image THEN jsonb_build_object('image', jsonb_build_object('id', i::text, 'mime_type', 'image/jpeg')) END,
    CASE WHEN i % 3 = 0 THEN 'delivered' ELSE 'read' END,
    at, at, at, at, CASE WHEN i % 3 <> 0 THEN at END, CASE WHEN is_image THEN 'imageMessage' ELSE 'conversation' END
  FROM (
    SELECT i, is_image, at, hash,
      CASE WHEN i % 10 = 0 THEN 0 WHEN rest % $3 = 0 THEN 1 ELSE 2 + (rest - rest / $3 - 1) % ($2 - 2) END AS index,
      CASE WHEN i % 10 = 0 THEN i / 10 WHEN rest % $3 = 0 THEN 1 + rest / $3 ELSE 1 + (rest - rest / $3 - 1) / ($2 - 2) END AS seq
    FROM (
      SELECT i, i % 20 = 7 AS is_image, i - i / 10 - 1 AS rest, hashint8extended(i, 0) & 1099511627775 AS hash,
        now() - make_interval(secs => ${SECONDS_BETWEEN_MESSAGES}.0 * ($1 - i)) AS at
      FROM generate_series(1, $1::int) AS i
      OFFSET 0 -- keeps the hash from being computed once for each use
    ) AS drawn
  ) AS newest
  JOIN scale_contacts c USING (index)`

const insertReactions = `
  INSERT INTO messages (organization_id, id, contact_id, upstream_id, sender_type, message_type, text, status,
    context_upstream_id, created_at, recorded_at, accepted_at, delivered_at, gateway_type)
  SELECT organization_id, uuidv7(), contact_id, upstream_id || 'r', 'user-chat', 'reaction', '👍', 'delivered',
    upstream_id, created_at, created_at, created_at, created_at, 'reactionMessage'
  FROM messages WHERE seq % 100 = 50`

const insertContacts = `
  INSERT INTO contacts (organization_id, id, chat_id, phone_number, full_name, folded_name, email, tags, source, last_seq, last_inbound_at)
  SELECT organization_id, id, number, '+' || number, name, translate(lower(name), $4, $5),
    'cliente.' || index || '@example.com', ARRAY['customer', 'newsletter'], '{"type": "inbound_message"}', last_seq, last_at
  FROM (
    SELECT *, CASE WHEN index % 10000 = 77 THEN $3 ELSE ($1::text[])[1 + (hash & 31)] END
      || ' ' || ($2::text[])[1 + (hash >> 5 & 31)] || ' ' || ($2::text[])[1 + (hash >> 10 & 31)] AS name
    FROM (SELECT *, hashint8extended(index, 1) & 1099511627775 AS hash FROM scale_contacts OFFSET 0) AS drawn
  ) AS named
  JOIN (
    SELECT contact_id, max(seq) AS last_seq, max(recorded_at) AS last_at FROM messages WHERE seq IS NOT NULL GROUP BY contact_id
  ) AS newest ON newest.contact_id = named.id
  ORDER BY index`

const afterContacts = [
  `INSERT INTO contact_addresses (organization_id, address, contact_id)
   SELECT organization_id, form, id FROM scale_contacts, unnest(ARRAY[number, '5511' || substr(number, 6)]) AS form`,
  `INSERT INTO contact_activity (organization_id, contact_id, active_at)
   SELECT organization_id, id, last_inbound_at FROM contacts`,
  'INSERT INTO contact_counts (organization_id, change) SELECT organization_id, count(*) FROM contacts GROUP BY organization_id',
  'DROP TABLE scale_contacts',
]

/**
 * Fills a migrated database with one organization, as the service itself would write it, but without events and
 * callbacks, which reading does not use. The service's own job indexes the long conversations.
 */
export async function fillDatabase(database: pg.Pool, shape: Shape): Promise<void> {
  const client = await database.connect()
  try {
    await client.query('SET synchronous_commit = off')
    await client.query(insertOrganizations, [ORGANIZATIONS])
    await client.query(planContacts, [shape.contacts, shape.contactsOfFirst])
    await fillMessages(client, shape)
    await client.query(insertContacts, [FIRST_NAMES, SURNAMES, RARE_NAME, ACCENTED, UNACCENTED])
    for (const statement of afterContacts) await client.query(statement)
    await client.query('VACUUM (ANALYZE)')
    await checkCounts(client, shape)
    await checkSample(client)
  } finally {
    client.release(true) // discards its settings
  }
}

/**
 * In one transaction with TRUNCATE and without indexes, so that the rows need no write-ahead log and the indexes are
 * built at once.
 */
async function fillMessages(client: pg.PoolClient, { messages, contacts }: Shape): Promise<void> {
  const stride = (messages - messages / 10) / MIDDLE_CONVERSATION
  const { rows: indexes } = await client.query<{ indexname: string; indexdef: string }>(
    "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'messages'",
  )
  await client.query('BEGIN')
  await client.query('TRUNCATE messages')
  await client.query('ALTER TABLE messages DROP CONSTRAINT messages_pkey')
  for (const { indexname } of indexes) await client.query(`DROP INDEX IF EXISTS ${indexname}`)
  await client.query(insertMessages, [messages, contacts, stride, OPENINGS, SUBJECTS, ENDS, RARE_TEXT])
  await client.query(insertReactions)
  for (const { indexdef } of indexes) await client.query(indexdef)
  await client.query('ALTER TABLE messages ADD CONSTRAINT messages_pkey PRIMARY KEY USING INDEX messages_pkey')
  await client.query('COMMIT')
}

/** Checks the data, because results from other data would mislead. */
async function checkCounts(client: pg.PoolClient, shape: Shape): Promise<void> {
  const { rows } = await client.query<Shape & { middle: number }>(
    `SELECT sum(last_seq)::int AS messages, count(*)::int AS contacts,
       count(*) FILTER (WHERE slug = 'bench')::int AS "contactsOfFirst", max(last_seq)::int AS longest,
       max(last_seq) FILTER (WHERE chat_id = $1)::int AS middle
     FROM contacts c JOIN organizations o ON o.id = c.organization_id`,
    [numberOf(1)],
  )
  const expected = { ...shape, middle: MIDDLE_CONVERSATION }
  if (JSON.stringify(Object.entries(rows[0] ?? {}).sort()) === JSON.stringify(Object.entries(expected).sort())) return
  throw new Error(`the data is not as expected: ${JSON.stringify(rows[0])} instead of ${JSON.stringify(expected)}`)
}

/** Names and numbers computed in SQL must equal those of the service. */
async function checkSample(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ full_name: string; folded_name: string; chat_id: string; forms: string[] }>(
    `SELECT full_name, folded_name, chat_id, ARRAY (
       SELECT address FROM contact_addresses a WHERE a.organization_id = c.organization_id AND a.contact_id = c.id
     ) AS forms
     FROM contacts c ORDER BY chat_id LIMIT 500`,
  )
  for (const row of rows) {
    const digits = readInternational(row.chat_id)?.digits
    const forms = digits === undefined ? [] : [...formsOf(digits)]
    if (normalizeText(row.full_name) === row.folded_name && String(forms.sort()) === String(row.forms.sort())) continue
    throw new Error(`a contact differs from what the service would write: ${JSON.stringify(row)}`)
  }
}
