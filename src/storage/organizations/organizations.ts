import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import type { Organization, Tenant, UpstreamSettings } from '../../model/organizations/organization.js'
import { directoryHash } from './directory.js'

/** The columns of an organization. */
export const COLUMNS = `id, name, slug, provider, default_country, timezone, currency, language, language_chosen,
  attribution_window_days, retention_days, message_retention_days, media_retention_days, legal_hold, suspended_at,
  created_at, updated_at`

/**
 * The columns of a tenant for queries that join `organizations o`, or `kept_organizations o`, with `upstream_settings u`;
 * see toTenant.
 */
export const TENANT_COLUMNS = `o.id, o.name, o.slug, o.provider, o.default_country, o.timezone, o.currency, o.language, o.language_chosen,
  o.attribution_window_days, o.retention_days, o.message_retention_days, o.media_retention_days, o.legal_hold,
  o.suspended_at, o.created_at, o.updated_at,
  u.phone_number_id, u.business_account_id, u.access_token, u.app_secret, u.messages_per_second, u.pair_limit,
  u.restrictions, u.throughput,
  EXISTS (
    SELECT FROM instances f
    WHERE f.organization_id = o.id AND f.kind = 'business_api' AND f.phone_number_id <> u.phone_number_id
  ) AS has_further_numbers`

export type TenantRow = Organization & { [Column in keyof UpstreamSettings]: UpstreamSettings[Column] | null } & Pick<
    Tenant,
    'has_further_numbers'
  >

/** Converts the joined columns to a tenant. */
export function toTenant(row: TenantRow): Tenant {
  const { phone_number_id, business_account_id, access_token, app_secret, has_further_numbers, ...other } = row
  const { messages_per_second, pair_limit, restrictions, throughput, ...rest } = other
  const { id, name, slug, provider, default_country, timezone, currency, language, language_chosen } = rest
  const { attribution_window_days, retention_days, message_retention_days, media_retention_days, legal_hold } = rest
  const { suspended_at, created_at, updated_at } = rest
  const upstream =
    phone_number_id === null
      ? null
      : ({
          phone_number_id,
          business_account_id,
          access_token,
          app_secret,
          messages_per_second,
          pair_limit,
          restrictions,
          throughput,
        } as UpstreamSettings)
  const place = { default_country, timezone, currency, language, language_chosen }
  const days = { attribution_window_days, retention_days, message_retention_days, media_retention_days }
  return {
    id,
    name,
    slug,
    provider,
    ...place,
    ...days,
    legal_hold,
    suspended_at,
    created_at,
    updated_at,
    upstream,
    has_further_numbers,
  }
}

const insert = statement<Organization>(
  'organizations.insert',
  `INSERT INTO organizations (id, name, slug, provider, default_country, timezone, currency, language,
     language_chosen, attribution_window_days, retention_days, message_retention_days, media_retention_days)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
   RETURNING ${COLUMNS}`,
)

const list = sharedStatement<Organization>(
  'organizations.list',
  `SELECT ${COLUMNS} FROM kept_organizations ORDER BY created_at, id`,
)

const find = statement<Organization>('organizations.find', `SELECT ${COLUMNS} FROM kept_organizations WHERE id = $1`)

const listSending = sharedStatement<{ organization_id: string }>(
  'organizations.listSending',
  'SELECT organization_id FROM upstream_settings ORDER BY organization_id LIMIT $1',
)

const findTenants = sharedStatement<TenantRow>(
  'organizations.findTenants',
  `SELECT ${TENANT_COLUMNS}
   FROM organizations o LEFT JOIN upstream_settings u ON u.organization_id = o.id
   WHERE o.id = ANY ($1)`,
)

// A number belongs to the organization if it is in its settings, otherwise to an instance. Instances are few, so their
// numbers are hashed here.
const findByUpstreamIds = sharedStatement<UpstreamIdRow>(
  'organizations.findByUpstreamIds',
  `SELECT d.kind, d.value_hash, d.organization_id, i.id AS instance_id, o.suspended_at IS NOT NULL AS is_suspended,
     CASE WHEN i.id IS NULL THEN u.app_secret ELSE i.app_secret END AS app_secret
   FROM directory d
   JOIN kept_organizations o ON o.id = d.organization_id
   LEFT JOIN upstream_settings u ON u.organization_id = d.organization_id
   LEFT JOIN instances i ON i.organization_id = d.organization_id AND d.kind = 'phone_number_id'
     AND i.phone_number_id IS DISTINCT FROM u.phone_number_id AND i.phone_number_id = ANY ($2) AND sha256(convert_to(i.phone_number_id, 'UTF8')) = d.value_hash
   WHERE d.kind IN ('phone_number_id', 'business_account_id') AND d.value_hash = ANY ($1)`,
)

interface UpstreamIdRow {
  kind: string
  value_hash: Buffer
  organization_id: string
  instance_id: string | null
  is_suspended: boolean
  app_secret: Buffer | null
}

const listNewest = sharedStatement<Pick<UpstreamIdRow, 'organization_id' | 'app_secret'>>(
  'organizations.listNewest',
  'SELECT organization_id, app_secret FROM upstream_settings ORDER BY updated_at DESC LIMIT $1',
)

const listConnected = sharedStatement<{ id: string }>(
  'organizations.listConnected',
  'SELECT organization_id AS id FROM upstream_settings ORDER BY organization_id',
)

const update = statement<Organization>(
  'organizations.update',
  `UPDATE kept_organizations o
   SET (name, slug, provider, default_country, timezone, currency, language, language_chosen,
     attribution_window_days, retention_days, message_retention_days, media_retention_days, updated_at) = (
     SELECT p.name, p.slug, p.provider, p.default_country, p.timezone, p.currency, p.language, p.language_chosen,
       p.attribution_window_days, p.retention_days, p.message_retention_days, p.media_retention_days, now()
     FROM jsonb_populate_record(o, $2) p
   )
   WHERE o.id = $1
   RETURNING ${COLUMNS}`,
)

const putUpstream = statement<never>(
  'organizations.putUpstream',
  `INSERT INTO upstream_settings AS s (organization_id, phone_number_id, business_account_id, access_token, app_secret,
     verify_token_hash, messages_per_second, pair_limit)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
   ON CONFLICT (organization_id) DO UPDATE SET
     phone_number_id = excluded.phone_number_id, business_account_id = excluded.business_account_id,
     access_token = excluded.access_token, app_secret = excluded.app_secret,
     verify_token_hash = excluded.verify_token_hash, messages_per_second = excluded.messages_per_second,
     pair_limit = excluded.pair_limit, updated_at = now(), restrictions = NULL, restricted_at = now(),
     throughput = CASE WHEN s.phone_number_id = excluded.phone_number_id THEN s.throughput END,
     templates_synced_at = CASE WHEN s.business_account_id = excluded.business_account_id THEN s.templates_synced_at END`,
)

// Settings that do not exist yet cannot be locked: two transactions would make them and wait for each other.
const lock = statement<never>('organizations.lock', 'SELECT FROM organization_rows WHERE id = $1 FOR NO KEY UPDATE')

const lockUpstream = statement<StoredUpstream>(
  'organizations.lockUpstream',
  `SELECT phone_number_id, business_account_id, access_token, app_secret, verify_token_hash, messages_per_second, pair_limit
   FROM upstream_settings WHERE organization_id = $1 FOR NO KEY UPDATE`,
)

const putStorefront = statement<never>(
  'organizations.putStorefront',
  `INSERT INTO storefront_settings AS s (organization_id, url, access_token, webhook_secret)
   VALUES ($1, $2, $3, $4)
   ON CONFLICT (organization_id) DO UPDATE SET
     url = excluded.url, access_token = excluded.access_token, webhook_secret = excluded.webhook_secret, updated_at = now(),
     orders_synced_until = CASE WHEN s.url = excluded.url THEN s.orders_synced_until END`,
)

const findStorefront = statement<StorefrontSettings>(
  'organizations.findStorefront',
  'SELECT url, access_token, webhook_secret FROM storefront_settings WHERE organization_id = $1',
)

const lockStorefront = statement<StorefrontSettings>(
  'organizations.lockStorefront',
  'SELECT url, access_token, webhook_secret FROM storefront_settings WHERE organization_id = $1 FOR NO KEY UPDATE',
)

const knowsVerifyToken = sharedStatement<{ known: boolean }>(
  'organizations.knowsVerifyToken',
  `SELECT EXISTS (SELECT FROM upstream_settings WHERE verify_token_hash = $1)
     OR EXISTS (SELECT FROM instances WHERE verify_token_hash = $1)
     OR EXISTS (SELECT FROM connection_attempts WHERE verify_token_hash = $1 AND expires_at > now()) AS known`,
)

/** Inserts an organization; claim its slug in the directory first. */
export async function insertOrganization(
  db: Queryable,
  organizationId: string,
  fields: Omit<Organization, 'id' | 'legal_hold' | 'suspended_at' | 'created_at' | 'updated_at'>,
): Promise<Organization> {
  const { name, slug, provider, default_country, timezone, currency, language, language_chosen } = fields
  const place = [default_country, timezone, currency, language, language_chosen]
  const { attribution_window_days, retention_days, message_retention_days, media_retention_days } = fields
  const days = [attribution_window_days, retention_days, message_retention_days, media_retention_days]
  const values = [organizationId, name, slug, provider, ...place, ...days]
  const [organization] = await db.run(insert, values)
  return organization as Organization
}

/** Every organization, suspended ones too, oldest first. */
export function listOrganizations(db: Queryable): Promise<Organization[]> {
  return db.run(list, [])
}

/** One organization, also a suspended one; null if there is none. */
export async function findOrganization(db: Queryable, organizationId: string): Promise<Organization | null> {
  const rows = await db.run(find, [organizationId])
  return rows[0] ?? null
}

/** The first organizations that have credentials of the upstream; at most `limit`. */
export async function listSendingTenants(
  db: Queryable,
  limit: number,
): Promise<(Tenant & { upstream: UpstreamSettings })[]> {
  const ids = (await db.run(listSending, [limit])).map((row) => row.organization_id)
  return [...(await findTenantsById(db, ids)).values()].flatMap(({ upstream, ...tenant }) =>
    upstream ? [{ ...tenant, upstream }] : [],
  )
}

/** Organizations with their upstream settings, by id. */
export async function findTenantsById(db: Queryable, organizationIds: string[]): Promise<Map<string, Tenant>> {
  const rows = await db.run(findTenants, [organizationIds])
  return new Map(rows.map((row) => [row.id, toTenant(row)]))
}

/** One organization with its upstream settings, or null. */
export async function findTenant(db: Queryable, organizationId: string): Promise<Tenant | null> {
  return (await findTenantsById(db, [organizationId])).get(organizationId) ?? null
}

/** An id with which a callback of the upstream names its organization. */
export interface UpstreamId {
  kind: 'phone_number_id' | 'business_account_id'
  value: string
}

/** The owner of an id of the upstream. */
export interface UpstreamClaim {
  organizationId: string
  /** The instance whose own number it is. */
  instanceId: string | null
  /** The encrypted app secret of its callbacks; null if none was given. */
  appSecret: Buffer | null
  /** Whether the organization is suspended. */
  isSuspended: boolean
}

/** The owners of these ids, in order; null if there is none. */
export async function findUpstreamClaims(db: Queryable, ids: readonly UpstreamId[]): Promise<(UpstreamClaim | null)[]> {
  const hashes = ids.map((id) => directoryHash(id.value))
  const rows = await db.run(findByUpstreamIds, [hashes, ids.map((id) => id.value)])
  const claims = new Map(rows.map((row) => [`${row.kind} ${row.value_hash.toString('hex')}`, toClaim(row)]))
  return ids.map((id, index) => claims.get(`${id.kind} ${hashes[index]?.toString('hex')}`) ?? null)
}

/** The organizations whose upstream settings were changed last, newest first. */
export async function listNewestClaims(db: Queryable, limit: number): Promise<UpstreamClaim[]> {
  const rows = await db.run(listNewest, [limit])
  return rows.map((row) => toClaim({ ...row, instance_id: null, is_suspended: false }))
}

function toClaim({
  organization_id,
  instance_id,
  app_secret,
  is_suspended,
}: Pick<UpstreamIdRow, 'organization_id' | 'instance_id' | 'app_secret' | 'is_suspended'>): UpstreamClaim {
  return { organizationId: organization_id, instanceId: instance_id, appSecret: app_secret, isSuspended: is_suspended }
}

/** The ids of the organizations with a number at the upstream. */
export async function listConnectedOrganizations(db: Queryable): Promise<string[]> {
  const rows = await db.run(listConnected, [])
  return rows.map((row) => row.id)
}

/** Changes the given fields; null if there is no such organization. */
export async function updateOrganization(
  db: Queryable,
  organizationId: string,
  changes: Partial<Omit<Organization, 'id' | 'legal_hold' | 'suspended_at' | 'created_at' | 'updated_at'>>,
): Promise<Organization | null> {
  const rows = await db.run(update, [organizationId, JSON.stringify(changes)])
  return rows[0] ?? null
}

export type StoredUpstream = Omit<UpstreamSettings, 'restrictions' | 'throughput'> & { verify_token_hash: Buffer }

/** The organization's number at the upstream, locked with it until the transaction ends; null if there is none. */
export async function lockUpstreamSettings(
  transaction: Queryable,
  organizationId: string,
): Promise<StoredUpstream | null> {
  await transaction.run(lock, [organizationId])
  const rows = await transaction.run(lockUpstream, [organizationId])
  return rows[0] ?? null
}

export async function putUpstreamSettings(
  db: Queryable,
  organizationId: string,
  settings: StoredUpstream,
): Promise<void> {
  await db.run(putUpstream, [
    organizationId,
    settings.phone_number_id,
    settings.business_account_id,
    settings.access_token,
    settings.app_secret,
    settings.verify_token_hash,
    settings.messages_per_second,
    settings.pair_limit,
  ])
}

/** An organization's storefront; both secrets are encrypted. */
export interface StorefrontSettings {
  url: string
  access_token: Buffer
  webhook_secret: Buffer
}

/** The organization's storefront, or null. */
export async function findStorefrontSettings(
  db: Queryable,
  organizationId: string,
): Promise<StorefrontSettings | null> {
  const rows = await db.run(findStorefront, [organizationId])
  return rows[0] ?? null
}

/** The organization's storefront, locked with it until the transaction ends; null if there is none. */
export async function lockStorefrontSettings(
  transaction: Queryable,
  organizationId: string,
): Promise<StorefrontSettings | null> {
  await transaction.run(lock, [organizationId])
  const rows = await transaction.run(lockStorefront, [organizationId])
  return rows[0] ?? null
}

export async function putStorefrontSettings(
  db: Queryable,
  organizationId: string,
  settings: StorefrontSettings,
): Promise<void> {
  await db.run(putStorefront, [organizationId, settings.url, settings.access_token, settings.webhook_secret])
}

/**
 * True if an organization, an instance with an own number, or a connection that is being made uses this verify token
 * (its SHA-256).
 */
export async function isVerifyTokenKnown(db: Queryable, hash: Buffer): Promise<boolean> {
  const rows = await db.run(knowsVerifyToken, [hash])
  return rows[0]?.known === true
}
