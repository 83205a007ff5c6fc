import type pg from 'pg'

/** The number of recipients of the large broadcast, which have messages. */
export const LARGE_BROADCAST = 1_000_000
/** The number of broadcasts in a year, and their recipients, which have counters and rows, but no messages. */
export const BROADCASTS = 1_000
export const RECIPIENTS_EACH = 10_000
/** The number of templates that are sent one by one every day. */
export const ONE_OFF_TEMPLATES = 20
/** The days of the requested year, including today. */
export const DAYS = 365

const TEMPLATE = JSON.stringify({
  name: 'offer',
  language: 'pt_BR',
  status: 'APPROVED',
  category: 'MARKETING',
  parameter_format: 'NAMED',
  components: [
    { type: 'BODY', text: 'Hi {{name}}' },
    { type: 'BUTTONS', buttons: ['Yes', 'No'].map((text) => ({ type: 'QUICK_REPLY', text })) },
  ],
})

// The large broadcast is the newest: number 0.
const insertBroadcasts = `
  INSERT INTO broadcasts (organization_id, id, kind, name, template_name, template_language, template, status, prepared_n,
    prepared_at, started_at, completed_at, created_at)
  SELECT $1, uuidv7(at - now()), 'broadcast', 'Broadcast ' || i, 'offer_' || i % 30, 'pt_BR', $2, 'completed',
    CASE i WHEN 0 THEN $4::int ELSE $5::int END, at, at, at, at
  FROM generate_series(0, $3::int) AS i, LATERAL (SELECT now() - i * interval '1 year' * 0.95 / $3::int AS at) AS t`

const insertOneOffs = `
  INSERT INTO broadcasts (organization_id, id, kind, day, name, template_name, template_language, template, status, started_at, created_at)
  SELECT $1, uuidv7(at - now()), 'singles', day, name, name, 'pt_BR', $2, 'completed', at, at
  FROM generate_series(0, $3::int - 1) AS ago, generate_series(1, $4::int) AS t,
    LATERAL (SELECT (now() AT TIME ZONE 'America/Sao_Paulo')::date - ago AS day, 'notice_' || t AS name) AS d,
    LATERAL (SELECT (day + time '12:00') AT TIME ZONE 'America/Sao_Paulo' AS at) AS a`

const insertRecipients = `
  INSERT INTO broadcast_recipients (organization_id, broadcast_id, n, campaign_id, contact_id, message_id, clicked, opted_out_at)
  SELECT b.organization_id, b.id, n, b.id, uuidv7(), uuidv7(),
    CASE WHEN n % 20 = 7 THEN ARRAY['Yes'] WHEN n % 50 = 9 THEN ARRAY['Yes', 'No'] ELSE '{}' END,
    CASE WHEN n % 100 = 50 THEN b.started_at END
  FROM broadcasts b, generate_series(1, b.prepared_n) AS n
  WHERE b.organization_id = $1 AND b.kind = 'broadcast'`

const insertMessages = `
  INSERT INTO messages (organization_id, id, contact_id, seq, upstream_id, sender_type, message_type, text, status, error, created_at,
    recorded_at, accepted_at, delivered_at, read_at, failed_at, campaign_id, broadcast_id, recipient_n, gateway_type)
  SELECT r.organization_id, r.message_id, r.contact_id, 1, 'wamid.' || encode(sha256(r.n::text::bytea), 'base64'), 'bot-chat', 'template',
    'Hi', s.status, CASE WHEN s.status = 'failed' THEN jsonb_build_object('code', 131026 + r.n / 100 % 4, 'text', 'Undeliverable') END,
    b.started_at, b.started_at, CASE WHEN r.n % 100 <> 1 THEN b.started_at END,
    CASE WHEN s.status IN ('delivered', 'read') THEN b.started_at END, CASE WHEN s.status = 'read' THEN b.started_at END,
    CASE WHEN s.status = 'failed' THEN b.started_at END, r.campaign_id, r.broadcast_id, r.n, 'conversation'
  FROM broadcasts b
  JOIN broadcast_recipients r ON r.organization_id = b.organization_id AND r.broadcast_id = b.id,
    LATERAL (
      SELECT CASE WHEN r.n % 100 < 2 THEN 'failed' WHEN r.n % 100 < 6 THEN 'sent' WHEN r.n % 100 < 40 THEN 'delivered' ELSE 'read' END
    ) AS s (status)
  WHERE b.organization_id = $1 AND b.prepared_n = $2`

// The sums of the rows above, per hundred recipients; the errors in four parts.
const insertCounts = `
  INSERT INTO campaign_counts (organization_id, campaign_id, counter, detail, value)
  SELECT b.organization_id, b.id, c.counter, c.detail, b.prepared_n / 400 * c.of_400
  FROM broadcasts b, (VALUES
    ('total', '', 400), ('recorded', '', 400), ('sent', '', 396), ('delivered', '', 376), ('read', '', 240), ('failed', '', 8),
    ('error', '131026', 2), ('error', '131027', 2), ('error', '131028', 2), ('error', '131029', 2),
    ('clicked', '', 28), ('button', 'Yes', 28), ('button', 'No', 8), ('opted_out', '', 4)
  ) AS c (counter, detail, of_400)
  WHERE b.organization_id = $1 AND b.kind = 'broadcast'`

// One day in three has failures.
const insertCountsOfOneOffs = `
  INSERT INTO campaign_counts (organization_id, campaign_id, counter, detail, value)
  SELECT b.organization_id, b.id, c.counter, c.detail, c.value
  FROM broadcasts b, (VALUES
    ('total', '', 50), ('recorded', '', 50), ('sent', '', 50), ('delivered', '', 48), ('read', '', 30), ('failed', '', 2), ('error', '131026', 2)
  ) AS c (counter, detail, value)
  WHERE b.organization_id = $1 AND b.kind = 'singles'
    AND (c.counter NOT IN ('failed', 'error') OR extract(doy FROM b.day)::int % 3 = 0)`

// For the broadcast in progress, not rolled up yet.
const insertDeltas = `
  INSERT INTO campaign_deltas (organization_id, campaign_id, counter, change)
  SELECT b.organization_id, b.id, counter, change
  FROM broadcasts b, generate_series(1, 1000), (VALUES ('read', 1), ('read', -1), ('delivered', 1), ('delivered', -1)) AS d (counter, change)
  WHERE b.organization_id = $1 AND b.prepared_n = $2`

/** Fills an empty organization; resolves to the large broadcast's id. */
export async function fillAnalytics(database: pg.Pool, organizationId: string): Promise<string> {
  const client = await database.connect()
  try {
    await client.query(insertBroadcasts, [organizationId, TEMPLATE, BROADCASTS, LARGE_BROADCAST, RECIPIENTS_EACH])
    await client.query(insertRecipients, [organizationId])
    await client.query(insertMessages, [organizationId, LARGE_BROADCAST])
    await client.query(insertCounts, [organizationId])
    await client.query(insertDeltas, [organizationId, LARGE_BROADCAST])
    await client.query('VACUUM (ANALYZE)')
    const { rows } = await client.query('SELECT id FROM broadcasts WHERE organization_id = $1 AND prepared_n = $2', [
      organizationId,
      LARGE_BROADCAST,
    ])
    return rows[0].id
  } finally {
    client.release()
  }
}

/** Adds the campaigns of a year of one-off sends. */
export async function addOneOffs(database: pg.Pool, organizationId: string): Promise<void> {
  await database.query(insertOneOffs, [organizationId, TEMPLATE, DAYS, ONE_OFF_TEMPLATES])
  await database.query(insertCountsOfOneOffs, [organizationId])
  await database.query('VACUUM (ANALYZE) broadcasts, campaign_counts')
}
