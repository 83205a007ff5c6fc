import type { Queryable } from '../../database/pool.js'
import { FEW_ROWS, ofOrganization, sharedStatement, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import { ONLY_ONE } from '../../model/jobs.js'
import type { NumberState } from '../../model/organizations/number-state.js'
import { raiseEvents } from '../events/raise.js'
import { enqueueJobs } from '../jobs/enqueue.js'
import { ALL_NUMBERS } from './numbers.js'

// Most callbacks come within a minute of another one, and then lock and change nothing.
const noteCallbacks = statement<never>(
  'numberStates.noteCallbacks',
  `INSERT INTO number_states AS n (organization_id, phone_number_id, last_callback_at)
   SELECT $1::uuid, given.id, $3::timestamptz FROM unnest($2::text[]) AS given (id)
   WHERE NOT EXISTS (
     SELECT FROM number_states known
     WHERE ${ofOrganization('known.organization_id', '$1::uuid')} AND known.phone_number_id = given.id
       AND known.last_callback_at > $3::timestamptz - interval '1 minute'
   )
   ${FEW_ROWS}
   ON CONFLICT (organization_id, phone_number_id) DO UPDATE SET last_callback_at = excluded.last_callback_at`,
)

const noteSample = statement<never>(
  'numberStates.noteSample',
  `INSERT INTO number_states (organization_id, phone_number_id, last_sample_at)
   SELECT organization_id, phone_number_id, $2::timestamptz FROM upstream_settings WHERE organization_id = $1
   ON CONFLICT (organization_id, phone_number_id) DO UPDATE SET last_sample_at = excluded.last_sample_at`,
)

const findLast = statement<LastCallbacks>(
  'numberStates.findLastCallbacks',
  'SELECT last_callback_at, last_sample_at FROM number_states WHERE organization_id = $1 AND phone_number_id = $2',
)

const find = statement<NumberState>(
  'numberStates.find',
  `SELECT n.phone_number_id, n.state, n.facts, n.steps, n.token_expires_at, n.checked_at, n.unanswered,
     n.last_callback_at
   FROM number_states n
   WHERE n.organization_id = $1 AND n.phone_number_id = $2`,
)

// The rate that the upstream allows is where the number is sent from. The event tells what is not ok, and that a token
// ends: once at each of the given days before. What a check could not read stays as it was known.
const record = statement<never>(
  'numberStates.record',
  `WITH before AS (
     SELECT state, problems, expiry_told_days FROM number_states WHERE organization_id = $1 AND phone_number_id = $2
   ), written AS (
     INSERT INTO number_states AS n (organization_id, phone_number_id, state, facts, steps, problems, token_expires_at,
       expiry_told_days, checked_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     ON CONFLICT (organization_id, phone_number_id) DO UPDATE SET
       state = excluded.state, steps = excluded.steps, problems = excluded.problems,
       facts = CASE WHEN excluded.facts = '{}' THEN n.facts ELSE excluded.facts END,
       token_expires_at = CASE WHEN $11 THEN excluded.token_expires_at ELSE n.token_expires_at END,
       expiry_told_days = CASE WHEN $11 THEN excluded.expiry_told_days ELSE n.expiry_told_days END,
       checked_at = excluded.checked_at, unanswered = 0
     RETURNING *
   ), first AS (
     UPDATE upstream_settings SET throughput = $12
     WHERE organization_id = $1 AND phone_number_id = $2 AND throughput IS DISTINCT FROM coalesce($12::integer, throughput)
   ), further AS (
     UPDATE instances SET throughput = $12
     WHERE organization_id = $1 AND phone_number_id = $2 AND throughput IS DISTINCT FROM coalesce($12::integer, throughput)
   )
   ${raiseEvents({
     from: `written LEFT JOIN before ON true
     WHERE written.problems <> coalesce(before.problems, '{}')
       OR written.expiry_told_days < coalesce(before.expiry_told_days, 1000)`,
     id: '$10',
     type: "'number.updated'",
     data: "jsonb_build_object('number', to_jsonb(written), 'previous_state', before.state)",
   })}`,
  { raises: 'events' },
)

const noteUnanswered = statement<{ unanswered: number }>(
  'numberStates.noteUnanswered',
  `INSERT INTO number_states AS n (organization_id, phone_number_id, unanswered) VALUES ($1, $2, 1)
   ON CONFLICT (organization_id, phone_number_id) DO UPDATE SET unanswered = n.unanswered + 1
   RETURNING unanswered`,
)

const findAsked = statement<{ phone_data: AskedPhoneData | null }>(
  'numberStates.findPhoneData',
  'SELECT phone_data FROM number_states WHERE organization_id = $1 AND phone_number_id = $2',
)

const keepAsked = statement<never>(
  'numberStates.keepPhoneData',
  `INSERT INTO number_states (organization_id, phone_number_id, phone_data) VALUES ($1, $2, $3)
   ON CONFLICT (organization_id, phone_number_id) DO UPDATE SET phone_data = excluded.phone_data`,
)

const enqueueCheck = statement<never>(
  'numberStates.enqueueCheck',
  enqueueJobs({ task: 'check_number', key: `'${ONLY_ONE}'` }),
  { enqueues: 'now' },
)

// The job that waits or runs sees what is the matter, too. While the upstream answers no check of a number, the hourly
// ones suffice for it.
const enqueueDueCheck = statement<never>(
  'numberStates.enqueueDueCheck',
  enqueueJobs({
    task: 'check_number',
    key: `'${ONLY_ONE}'`,
    from: `upstream_settings
     WHERE organization_id = $1
       AND EXISTS (
         SELECT FROM ${ALL_NUMBERS} u LEFT JOIN number_states n USING (organization_id, phone_number_id)
         WHERE u.organization_id = $1 AND coalesce(n.checked_at < $2, true) AND coalesce(n.unanswered, 0) = 0
       )
       AND NOT EXISTS (
         SELECT FROM jobs waiting
         WHERE waiting.organization_id = $1 AND waiting.task = 'check_number' AND waiting.key = '${ONLY_ONE}'
           AND waiting.failed_at IS NULL
       )`,
  }),
  { enqueues: 'now' },
)

const enqueueAllChecks = sharedStatement<never>(
  'numberStates.enqueueAllChecks',
  enqueueJobs({
    task: 'check_number',
    organizationId: 'u.organization_id',
    key: `'${ONLY_ONE}'`,
    from: `upstream_settings u JOIN organizations o ON o.id = u.organization_id WHERE o.provider = 'upstream'`,
  }),
  { enqueues: 'now' },
)

// A number that only receives has no newer one among these.
const findLastSend = statement<{ at: Date | null }>(
  'numberStates.findLastSend',
  `SELECT max(newest.created_at) AS at FROM (
     SELECT created_at, sender_type, upstream_id FROM messages
     WHERE organization_id = $1 AND instance_id IS NOT DISTINCT FROM $3::uuid AND seq IS NOT NULL
     ORDER BY created_at DESC, id DESC LIMIT 1000
   ) newest
   WHERE newest.sender_type NOT IN ('user-chat', 'system') AND newest.upstream_id IS NOT NULL
     AND ($2::timestamptz IS NULL OR newest.created_at <= $2)`,
)

/**
 * What is counted: numbers by state, their problems, tokens that end soon, the seconds until the next one ends, the seconds
 * since the oldest check of those that are ok, and the seconds since the newest callback.
 */
interface NumberCount {
  kind: 'state' | 'problem' | 'expiring' | 'next_end' | 'ok_age' | 'callback_age'
  name: string
  count: number
}

// Of all organizations: one row each, as many as there are.
const countAll = sharedStatement<NumberCount>(
  'numberStates.countAll',
  `WITH connected AS (
     SELECT coalesce(n.state, 'unchecked') AS state, n.problems, n.token_expires_at, n.checked_at,
       n.last_callback_at
     FROM ${ALL_NUMBERS} u
       JOIN organizations o ON o.id = u.organization_id
       LEFT JOIN number_states n ON n.organization_id = u.organization_id AND n.phone_number_id = u.phone_number_id
     WHERE o.provider = 'upstream'
   )
   SELECT 'state' AS kind, state AS name, count(*)::float8 AS count FROM connected GROUP BY state
   UNION ALL
   SELECT 'problem', problem, count(*) FROM connected, unnest(problems) AS problem GROUP BY problem
   UNION ALL
   SELECT 'expiring', '', count(*) FROM connected WHERE token_expires_at < $1
   UNION ALL
   SELECT 'next_end', '', extract(epoch FROM min(token_expires_at) - $2::timestamptz)
   FROM connected HAVING min(token_expires_at) IS NOT NULL
   UNION ALL
   SELECT 'ok_age', '', extract(epoch FROM $2::timestamptz - min(checked_at))
   FROM connected WHERE state = 'ok' HAVING min(checked_at) IS NOT NULL
   UNION ALL
   SELECT 'callback_age', '', extract(epoch FROM $2::timestamptz - max(last_callback_at))
   FROM connected HAVING max(last_callback_at) IS NOT NULL`,
)

const listBad = sharedStatement<BadNumber>(
  'numberStates.listBad',
  `SELECT o.id AS organization_id, o.slug, n.phone_number_id, n.state, n.facts, n.steps, n.token_expires_at,
     n.checked_at, n.unanswered, n.last_callback_at, u.instance_id
   FROM number_states n
     JOIN ${ALL_NUMBERS} u USING (organization_id, phone_number_id)
     JOIN organizations o ON o.id = n.organization_id
   WHERE n.state IN ('warning', 'failed') AND o.provider = 'upstream'
   ORDER BY n.state, o.slug LIMIT $1`,
)

/**
 * How many numbers have each state and each problem, how many tokens end before `expireBefore`, how many seconds after
 * `now` the next one ends, and how many before it the oldest check of the numbers that are ok was, and the newest
 * callback of any number.
 */
export function countNumberStates(
  db: Queryable,
  { expireBefore, now }: { expireBefore: Date; now: Date },
): Promise<NumberCount[]> {
  return db.run(countAll, [expireBefore, now])
}

/** A number that is not ok, and its organization. */
export interface BadNumber extends NumberState {
  organization_id: string
  slug: string
  /** Null: it is the organization's own. */
  instance_id: string | null
}

/** The first numbers that are not ok, by the slug of their organization, failed ones first. */
export function listBadNumbers(db: Queryable, limit: number): Promise<BadNumber[]> {
  return db.run(listBad, [limit])
}

/** The state of one of the organization's numbers; null before its first check or callback. */
export async function findNumberState(
  db: Queryable,
  organizationId: string,
  phoneNumberId: string,
): Promise<NumberState | null> {
  const rows = await db.run(find, [organizationId, phoneNumberId])
  return rows[0] ?? null
}

/** What a check has found. */
export interface CheckedNumber extends Pick<NumberState, 'facts' | 'steps' | 'token_expires_at'> {
  phone_number_id: string
  state: 'ok' | 'warning' | 'failed'
  /** The reasons that are not ok. */
  problems: string[]
  /** The shortest time before the end of the token, in days, that has been reached; null: none. */
  expiry_days: number | null
  /** False: nothing is known about the token, and what was known of its end stays. */
  is_token_read: boolean
  /** Messages per second that the upstream allows; null: it did not say. */
  allowed_rate: number | null
  checked_at: Date
}

/** Records a check that the upstream answered; raises number.updated if a problem came or went, or a token ends. */
export async function recordCheck(db: Queryable, organizationId: string, checked: CheckedNumber): Promise<void> {
  const { phone_number_id, state, facts, steps, problems, token_expires_at, expiry_days, is_token_read, checked_at } =
    checked
  const found = [JSON.stringify(facts), JSON.stringify(steps), problems]
  const times = [token_expires_at, expiry_days, checked_at]
  const values = [
    organizationId,
    phone_number_id,
    state,
    ...found,
    ...times,
    newId(),
    is_token_read,
    checked.allowed_rate,
  ]
  await db.raise(record, values, [organizationId])
}

/** Counts a check that the upstream did not answer; resolves to how many there were since one that it did. */
export async function countUnansweredCheck(
  db: Queryable,
  organizationId: string,
  phoneNumberId: string,
): Promise<number> {
  const rows = await db.run(noteUnanswered, [organizationId, phoneNumberId])
  return rows[0]?.unanswered ?? 1
}

/** Enqueues a check of the organization's numbers. */
export async function enqueueNumberCheck(db: Queryable, organizationId: string): Promise<void> {
  await db.run(enqueueCheck, [organizationId])
}

/** Enqueues a check of the organization's numbers, unless one waits already, or each has been checked since `before`. */
export async function enqueueDueNumberCheck(db: Queryable, organizationId: string, before: Date): Promise<void> {
  await db.run(enqueueDueCheck, [organizationId, before])
}

/** Enqueues a check for every organization with a number at the upstream. */
export async function enqueueNumberChecks(db: Queryable): Promise<void> {
  await db.run(enqueueAllChecks, [])
}

/**
 * When the upstream last accepted a message of a number (null: the organization's own), not after `until` (null: of all
 * times), among its newest 1,000 messages; null if it accepted none of them.
 */
export async function findLastSendOf(
  db: Queryable,
  organizationId: string,
  instanceId: string | null,
  until: Date | null,
): Promise<Date | null> {
  const rows = await db.run(findLastSend, [organizationId, until, instanceId])
  return rows[0]?.at ?? null
}

/** Notes that callbacks of these numbers came at `at`; not more often than once a minute. */
export async function noteCallbacksOf(
  db: Queryable,
  organizationId: string,
  phoneNumberIds: readonly string[],
  at: Date,
): Promise<void> {
  if (phoneNumberIds.length > 0) await db.run(noteCallbacks, [organizationId, phoneNumberIds, at])
}

/** Notes that a sample of a callback came for the organization's number at `at`. */
export async function noteSampleOf(db: Queryable, organizationId: string, at: Date): Promise<void> {
  await db.run(noteSample, [organizationId, at])
}

/** When the last callback of a number came, and the last sample; null if none has come. */
export interface LastCallbacks {
  last_callback_at: Date | null
  last_sample_at: Date | null
}

/** When the last callback, and the last sample, of a number came. */
export async function findLastCallbacks(
  db: Queryable,
  organizationId: string,
  phoneNumberId: string,
): Promise<LastCallbacks> {
  const rows = await db.run(findLast, [organizationId, phoneNumberId])
  return rows[0] ?? { last_callback_at: null, last_sample_at: null }
}

/** The upstream's ids of the requests for what the phone of a number has, and when they were made (ISO 8601). */
export interface AskedPhoneData {
  requests: { smb_app_state_sync?: string; history?: string }
  at: string
}

/** What was asked of the phone of a number; null: nothing. */
export async function findPhoneData(
  db: Queryable,
  organizationId: string,
  phoneNumberId: string,
): Promise<AskedPhoneData | null> {
  const rows = await db.run(findAsked, [organizationId, phoneNumberId])
  return rows[0]?.phone_data ?? null
}

export async function keepPhoneData(
  db: Queryable,
  organizationId: string,
  phoneNumberId: string,
  asked: AskedPhoneData,
): Promise<void> {
  await db.run(keepAsked, [organizationId, phoneNumberId, JSON.stringify(asked)])
}
