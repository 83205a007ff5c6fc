import { newId } from '../../src/lib/bytes/id.js'
import { makeTemplate } from './templates.js'
import type { TestOrganization, World } from './world.js'

/** The given fields of a campaign; the default is a completed broadcast of the template "promo". */
export interface CampaignFields {
  id?: string
  kind?: 'broadcast' | 'singles'
  name?: string
  template?: string
  language?: string
  /** The texts of its quick-reply buttons. */
  buttons?: string[]
  status?: string
  day?: string
  started_at?: string | null
  created_at?: string
  prepared_n?: number
  parameters?: object
  /** The counters, each as `counter` or `counter: detail`. */
  counts?: Record<string, number>
  /** The same, not rolled up yet. */
  deltas?: Record<string, number>
}

const AT = '2026-03-10T15:00:00Z'

/** Inserts a campaign with its counters; resolves to its id. */
export async function seedCampaign(
  { database }: Pick<World, 'database'>,
  { id: organizationId }: Pick<TestOrganization, 'id'>,
  fields: CampaignFields = {},
): Promise<string> {
  const { id = newId(), kind = 'broadcast', template = 'promo', language = 'pt_BR', started_at = AT } = fields
  const buttons = (fields.buttons ?? []).map((text) => ({ type: 'QUICK_REPLY', text }))
  const components = [
    { type: 'BODY', text: 'An offer' },
    { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Shop', url: 'https://shop.example/{{1}}' }, ...buttons] },
  ]
  await database.pool.query(
    `INSERT INTO broadcasts (organization_id, id, kind, day, name, template_name, template_language, template, status, started_at,
       created_at, prepared_n, parameters)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      organizationId,
      id,
      kind,
      fields.day ?? (kind === 'singles' ? started_at?.slice(0, 10) : null),
      fields.name ?? (kind === 'singles' ? template : 'Spring'),
      template,
      language,
      JSON.stringify(makeTemplate({ name: template, language, components })),
      fields.status ?? 'completed',
      started_at,
      fields.created_at ?? started_at ?? AT,
      fields.prepared_n ?? 0,
      JSON.stringify(fields.parameters ?? {}),
    ],
  )
  await database.pool.query(
    `INSERT INTO campaign_counts (organization_id, campaign_id, counter, detail, value)
     SELECT $1, $2, * FROM unnest($3::text[], $4::text[], $5::bigint[])`,
    [organizationId, id, ...toColumns(fields.counts)],
  )
  await database.pool.query(
    `INSERT INTO campaign_deltas (organization_id, campaign_id, counter, detail, change)
     SELECT $1, $2, * FROM unnest($3::text[], $4::text[], $5::bigint[])`,
    [organizationId, id, ...toColumns(fields.deltas)],
  )
  return id
}

function toColumns(counters: Record<string, number> = {}): [string[], string[], number[]] {
  const names = Object.keys(counters).map((name) => name.split(': '))
  return [names.map(([name = '']) => name), names.map(([, detail = '']) => detail), Object.values(counters)]
}

/** The given fields of a recipient; without `status` it has no message. */
export interface RecipientFields {
  broadcastId?: string
  n: number
  status?: 'sent' | 'delivered' | 'read' | 'failed'
  accepted?: boolean
  /** The message has an unknown outcome. */
  outstanding?: 'pending' | 'unknown'
  error?: object
  /** For a recipient without a message. */
  outcome?: object
  skip_reason?: string
  clicked?: string[]
  opted_out?: boolean
  parameters?: object
}

/** Inserts a recipient of a campaign, with its message if it has one. */
export async function seedRecipient(
  { database }: Pick<World, 'database'>,
  { id: organizationId }: Pick<TestOrganization, 'id'>,
  campaignId: string,
  { broadcastId = campaignId, n, status, accepted = status !== undefined, ...fields }: RecipientFields,
): Promise<void> {
  const messageId = newId()
  await database.pool.query(
    `INSERT INTO broadcast_recipients (organization_id, broadcast_id, n, campaign_id, message_id, outcome, skip_reason, clicked,
       opted_out_at, parameters)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      organizationId,
      broadcastId,
      n,
      campaignId,
      messageId,
      fields.outcome ? JSON.stringify(fields.outcome) : null,
      fields.skip_reason ?? null,
      fields.clicked ?? [],
      fields.opted_out ? AT : null,
      fields.parameters ? JSON.stringify(fields.parameters) : null,
    ],
  )
  if (status === undefined) return
  await database.pool.query(
    `INSERT INTO messages (organization_id, id, contact_id, seq, sender_type, message_type, text, status, outcome, error, created_at,
       accepted_at, campaign_id, broadcast_id, recipient_n)
     VALUES ($1, $2, gen_random_uuid(), 1, 'bot-chat', 'template', 'An offer', $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      organizationId,
      messageId,
      status,
      fields.outstanding ?? null,
      fields.error ? JSON.stringify(fields.error) : null,
      AT,
      accepted ? AT : null,
      campaignId,
      broadcastId,
      n,
    ],
  )
}
