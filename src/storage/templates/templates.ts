import type { Queryable } from '../../database/pool.js'
import { FEW_ROWS, ofOrganization, sharedStatement, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import { ONLY_ONE } from '../../model/jobs.js'
import type { StoredTemplate, Template } from '../../model/templates/template.js'
import { raiseEvents } from '../events/raise.js'
import { enqueueJobs } from '../jobs/enqueue.js'

const COLUMNS = `organization_id, upstream_id, name, language, status, category, parameter_format, components,
  synced_at, status_reason, status_at, quality`
const ORDER = 'ORDER BY name COLLATE "C", language COLLATE "C"'

/** An event about each row of `from`; `template` is the JSON of its template. */
const templateEvent = (type: string, id: string, template: string, from: string) => ({
  from,
  id,
  type: `'${type}'`,
  data: `jsonb_build_object('template', ${template})`,
})

const statusChanged = (id: string, template: string, from: string) =>
  raiseEvents(templateEvent('template.status_changed', id, template, from))

/** What happened to the quality of the rows of `from`. */
const qualityChanged = (from: string, quality: string, before: string) => ({
  type: "'template.quality_changed'",
  data: `jsonb_build_object('template', to_jsonb(${from}), 'quality', ${quality}, 'previous_quality', ${before})`,
})

const list = statement<StoredTemplate>(
  'templates.list',
  `SELECT ${COLUMNS} FROM templates WHERE organization_id = $1 ${ORDER}`,
)

const listKeys = statement<TemplateKey>(
  'templates.listKeys',
  'SELECT name, language FROM templates WHERE organization_id = $1',
)

const count = statement<{ total: number }>(
  'templates.count',
  'SELECT count(*) AS total FROM templates WHERE organization_id = $1',
)

const find = statement<StoredTemplate>(
  'templates.find',
  `SELECT ${COLUMNS} FROM templates WHERE organization_id = $1 AND name = $2 ${ORDER}`,
)

const listSendable = statement<{ name: string }>(
  'templates.listSendable',
  `SELECT DISTINCT name COLLATE "C" AS name FROM templates WHERE organization_id = $1 AND status = 'APPROVED'
   ORDER BY 1 LIMIT $2`,
)

const findSync = statement<{ synced_at: Date | null; now: Date }>(
  'templates.findSync',
  'SELECT templates_synced_at AS synced_at, now() AS now FROM upstream_settings WHERE organization_id = $1',
)

// A second sync of the same organization waits here.
const begin = statement<{ synced_at: Date | null }>(
  'templates.begin',
  `SELECT templates_synced_at AS synced_at FROM upstream_settings
   WHERE organization_id = $1 AND business_account_id = $2
   FOR UPDATE`,
)

const updateSync = statement<never>(
  'templates.noteSync',
  'UPDATE upstream_settings SET templates_synced_at = $2 WHERE organization_id = $1',
)

/**
 * The content of a template, for comparisons. The addresses of example files are left out: the upstream signs them for
 * each list.
 */
const contentOf = (row: string) =>
  `(${row}.category, ${row}.parameter_format,
     regexp_replace(${row}.components::text, '"header_handle": \\[[^]]*\\]', '', 'g'))`

// A pause has its reason in a callback only, so a list without one keeps it while the status stays.
const put = statement<{ added: number; changed: number }>(
  'templates.put',
  `WITH given AS (
     SELECT * FROM jsonb_to_recordset($2::jsonb) AS given (event_id uuid, update_event_id uuid,
       quality_event_id uuid, upstream_id text, name text, language text, status text, category text, parameter_format text, components jsonb,
       status_reason text, quality text)
     ${FEW_ROWS}
   ), before AS (
     SELECT t.name, t.language, t.status, t.category, t.parameter_format, t.components, t.quality
     FROM given JOIN templates t ON ${ofOrganization('t.organization_id', '$1::uuid')}
       AND t.name = given.name AND t.language = given.language
   ), written AS (
     INSERT INTO templates AS t
       (organization_id, upstream_id, name, language, status, category, parameter_format, components,
        status_reason, status_at, quality)
     SELECT $1, upstream_id, name, language, status, category, parameter_format, components, status_reason, now(),
       quality
     FROM given
     ON CONFLICT (organization_id, name, language) DO UPDATE SET
       upstream_id = excluded.upstream_id, status = excluded.status, category = excluded.category,
       parameter_format = excluded.parameter_format, components = excluded.components, synced_at = now(),
       status_reason = CASE WHEN t.status = excluded.status THEN coalesce(excluded.status_reason, t.status_reason)
         ELSE excluded.status_reason END,
       status_at = CASE WHEN t.status = excluded.status THEN t.status_at ELSE now() END,
       quality = coalesce(excluded.quality, t.quality),
       quality_at = CASE WHEN t.quality <> excluded.quality THEN now() ELSE t.quality_at END
     WHERE t.synced_at <= $3 AND ((t.upstream_id, t.status, t.category, t.parameter_format, t.components)
       IS DISTINCT FROM
       (excluded.upstream_id, excluded.status, excluded.category, excluded.parameter_format, excluded.components)
       OR t.status_reason IS DISTINCT FROM coalesce(excluded.status_reason, t.status_reason)
       OR t.quality IS DISTINCT FROM coalesce(excluded.quality, t.quality))
     RETURNING *
   ), raised AS (
     ${raiseEvents(
       templateEvent(
         'template.status_changed',
         'given.event_id',
         'to_jsonb(written)',
         `written JOIN given USING (name, language) LEFT JOIN before USING (name, language)
      WHERE given.event_id IS NOT NULL AND before.status IS DISTINCT FROM written.status`,
       ),
       templateEvent(
         'template.updated',
         'given.update_event_id',
         'to_jsonb(written)',
         `written JOIN given USING (name, language) JOIN before USING (name, language)
      WHERE given.update_event_id IS NOT NULL AND ${contentOf('before')} IS DISTINCT FROM ${contentOf('written')}`,
       ),
       // The first quality that is known is no change.
       {
         from: `written JOIN given USING (name, language) JOIN before USING (name, language)
      WHERE given.quality_event_id IS NOT NULL AND before.quality <> written.quality`,
         id: 'given.quality_event_id',
         ...qualityChanged('written', 'written.quality', 'before.quality'),
       },
     )}
   )
   SELECT count(*) FILTER (WHERE before.name IS NULL) AS added, count(before.name) AS changed
   FROM written LEFT JOIN before USING (name, language)`,
  { raises: 'events' },
)

const remove = statement<{ removed: number }>(
  'templates.remove',
  `WITH given AS (
     SELECT * FROM jsonb_to_recordset($2::jsonb) AS given (event_id uuid, name text, language text)
   ), removed AS (
     DELETE FROM templates t USING given
     WHERE t.organization_id = $1 AND t.name = given.name AND t.language = given.language AND t.synced_at <= $3
     RETURNING t.*
   ), raised AS (
     ${statusChanged(
       'given.event_id',
       `to_jsonb(removed) || '{"status": "DELETED"}'`,
       "removed JOIN given USING (name, language) WHERE given.event_id IS NOT NULL AND removed.status <> 'DELETED'",
     )}
   )
   SELECT count(*) AS removed FROM removed`,
  { raises: 'events' },
)

const setStatus = statement<never>(
  'templates.setStatus',
  `WITH before AS (
     SELECT name, language, status FROM templates
     WHERE organization_id = $1 AND name = $2 AND language = $3
       AND (status <> $4 OR status_reason IS DISTINCT FROM coalesce($6, status_reason))
     FOR NO KEY UPDATE
   ), changed AS (
     UPDATE templates t SET status = $4, status_reason = $6, synced_at = now(),
       status_at = CASE WHEN before.status <> $4 THEN now() ELSE t.status_at END
     FROM before
     WHERE t.organization_id = $1 AND t.name = before.name AND t.language = before.language
     RETURNING t.*
   )
   ${statusChanged('$5', 'to_jsonb(changed)', 'changed, before WHERE before.status <> changed.status')}`,
  { raises: 'events' },
)

// A callback that is older than the last one changes nothing.
const setQuality = statement<never>(
  'templates.setQuality',
  `WITH before AS (
     SELECT name, language, quality FROM templates
     WHERE organization_id = $1 AND name = $2 AND language = $3 AND (quality_at <= $5) IS NOT FALSE
     FOR NO KEY UPDATE
   ), changed AS (
     UPDATE templates t SET quality = $4, quality_at = $5, synced_at = now()
     FROM before
     WHERE t.organization_id = $1 AND t.name = before.name AND t.language = before.language
     RETURNING t.*
   )
   ${raiseEvents({
     from: 'changed, before WHERE before.quality IS DISTINCT FROM $4',
     id: '$7',
     ...qualityChanged('changed', '$4::text', 'coalesce(before.quality, $6::text)'),
   })}`,
  { raises: 'events' },
)

const enqueueSync = statement<never>(
  'templates.enqueueSync',
  enqueueJobs({ task: 'sync_templates', key: `'${ONLY_ONE}'` }),
  { enqueues: 'now' },
)

const enqueueAllSyncs = sharedStatement<never>(
  'templates.enqueueAllSyncs',
  enqueueJobs({
    task: 'sync_templates',
    organizationId: 'u.organization_id',
    key: `'${ONLY_ONE}'`,
    from: `upstream_settings u JOIN organizations o ON o.id = u.organization_id WHERE o.provider = 'upstream'`,
  }),
  { enqueues: 'now' },
)

/** Every template of an organization, by name and language. */
export function listTemplates(db: Queryable, organizationId: string): Promise<StoredTemplate[]> {
  return db.run(list, [organizationId])
}

/** What a template is known by. */
export type TemplateKey = Pick<Template, 'name' | 'language'>

/** The names and languages of an organization's templates. */
export function listTemplateKeys(db: Queryable, organizationId: string): Promise<TemplateKey[]> {
  return db.run(listKeys, [organizationId])
}

/** The number of an organization's templates. */
export async function countTemplates(db: Queryable, organizationId: string): Promise<number> {
  const [row] = await db.run(count, [organizationId])
  return row?.total ?? 0
}

/** The templates of a name, by language. */
export function findTemplates(db: Queryable, organizationId: string, name: string): Promise<StoredTemplate[]> {
  return db.run(find, [organizationId, name])
}

/** The names of approved templates, the first `limit` of them. */
export async function listSendableNames(db: Queryable, organizationId: string, limit: number): Promise<string[]> {
  const rows = await db.run(listSendable, [organizationId, limit])
  return rows.map(({ name }) => name)
}

/** When the last sync of an organization's templates started (null: never), and the database's time. */
export async function findTemplateSync(
  db: Queryable,
  organizationId: string,
): Promise<{ syncedAt: Date | null; now: Date } | null> {
  const [row] = await db.run(findSync, [organizationId])
  return row ? { syncedAt: row.synced_at, now: row.now } : null
}

/**
 * Locks an organization's templates; returns when the sync that wrote them started. Null if the organization has
 * another business account by now.
 */
export async function lockTemplates(
  transaction: Queryable,
  organizationId: string,
  businessAccountId: string,
): Promise<{ syncedAt: Date | null } | null> {
  const [row] = await transaction.run(begin, [organizationId, businessAccountId])
  return row ? { syncedAt: row.synced_at } : null
}

/** Records that a sync which started at `startedAt` is complete. */
export async function recordTemplateSync(db: Queryable, organizationId: string, startedAt: Date): Promise<void> {
  await db.run(updateSync, [organizationId, startedAt])
}

/** A template to be written. */
export type TemplateWrite = Omit<Template, 'status_at'> & {
  upstream_id: string | null
  /** The id of the event if the status changes; null: none is raised. */
  event_id: string | null
  /** The id of the event if the content changes; null: none is raised. */
  update_event_id: string | null
  /** The id of the event if the quality changes; null: none is raised. */
  quality_event_id: string | null
}

/**
 * Writes templates as they were listed at `listedAt`, and raises their events. Templates that were written later stay
 * as they are. Resolves to how many were new, and how many others changed.
 */
export async function putTemplates(
  db: Queryable,
  organizationId: string,
  templates: readonly TemplateWrite[],
  listedAt: Date,
): Promise<{ added: number; changed: number }> {
  if (templates.length === 0) return { added: 0, changed: 0 }
  const [counts] = await db.raise(put, [organizationId, JSON.stringify(templates), listedAt], [organizationId])
  return counts ?? { added: 0, changed: 0 }
}

/**
 * Removes templates, unless they were written after `listedAt`; if an event is to be raised, it has the status DELETED.
 * Resolves to how many were removed.
 */
export async function removeTemplates(
  db: Queryable,
  organizationId: string,
  templates: readonly (TemplateKey & { event_id: string | null })[],
  listedAt: Date,
): Promise<number> {
  if (templates.length === 0) return 0
  const [row] = await db.raise(remove, [organizationId, JSON.stringify(templates), listedAt], [organizationId])
  return row?.removed ?? 0
}

/**
 * Sets the status of a known template, with the reason (null: none is given), and raises the event of a status that it
 * did not have already.
 */
export async function setTemplateStatus(
  db: Queryable,
  organizationId: string,
  { name, language, status, reason }: Pick<Template, 'name' | 'language' | 'status'> & { reason: string | null },
): Promise<void> {
  await db.raise(setStatus, [organizationId, name, language, status, newId(), reason], [organizationId])
}

/** Enqueues a sync of an organization's templates. */
export async function enqueueTemplateSync(db: Queryable, organizationId: string): Promise<void> {
  await db.run(enqueueSync, [organizationId])
}

/** Enqueues a sync for every organization with a business account. Of all tenants. */
export async function enqueueTemplateSyncs(db: Queryable): Promise<void> {
  await db.run(enqueueAllSyncs, [])
}

/** The quality of a template, as the upstream reported it. */
export type ReportedQuality = TemplateKey & { quality: string; previousQuality: string | null; at: Date }

/** Sets the quality of a template and raises template.quality_changed if it is another one. */
export async function setTemplateQuality(
  db: Queryable,
  organizationId: string,
  { name, language, quality, at, previousQuality }: ReportedQuality,
): Promise<void> {
  await db.raise(setQuality, [organizationId, name, language, quality, at, previousQuality, newId()], [organizationId])
}
