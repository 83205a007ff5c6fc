import { expect, vi } from 'vitest'
import type { Database } from '../../../src/database/pool.js'
import type { JobTask } from '../../../src/model/jobs.js'
import { patience } from '../../support/patience.js'
import type { TestOrganization } from '../../support/world.js'
import { type Answer, call, type Sandbox, type Service, succeed } from './service.js'

/** A template of every account of the simulator, with the values of its variables. */
export const OFFER = {
  templateName: 'oferta_da_semana',
  bodyParameters: { name: 'cliente', discount: '20%' },
  buttonParameters: { param1: 'abc' },
}

/** A broadcast as the interface shows it, as far as it is looked at here. */
export interface ShownBroadcast {
  id: string
  status: string
  totalRecipients: number
  skippedRecipients: number
}

/** How many recipients of a broadcast are ready to be sent to, and how many of them have a message. */
export interface Progress {
  prepared: number
  recorded: number
}

/** Imports contacts with these numbers and a tag. */
export async function importContacts(
  { url }: Service,
  { key }: TestOrganization,
  numbers: readonly string[],
  tag: string,
): Promise<void> {
  const body = ['phone_number,tags', ...numbers.map((number) => `${number},${tag}`)].join('\n')
  const answer = await succeed(
    call(`${url}/contacts/import`, 'POST', { key, body, headers: { 'content-type': 'text/csv' } }),
  )
  expect(answer.body.summary).toMatchObject({ created: numbers.length })
}

export async function readBroadcast(
  { request }: Service,
  { key }: TestOrganization,
  id: string,
): Promise<ShownBroadcast> {
  return (await succeed(request('GET', `/broadcasts/${id}`, { key }))).body.broadcast
}

/** Pauses, resumes, cancels it, or sends once more to whom it failed. */
export function controlBroadcast(
  { request }: Service,
  { key }: TestOrganization,
  id: string,
  verb: 'pause' | 'resume' | 'cancel' | 'retry-failed',
): Promise<Answer> {
  return succeed(request('POST', `/broadcasts/${id}/${verb}`, { key }))
}

/** The numbers of all recipients by what became of them, and the codes of the errors; from the file of recipients. */
export async function readRecipients(
  { request }: Service,
  { key }: TestOrganization,
  id: string,
): Promise<{ numbersOf: (status: string) => string[]; errorsOf: (status: string) => string[]; total: number }> {
  const { body } = await succeed(request('GET', `/broadcasts/${id}/recipients?format=csv`, { key }))
  const [head, ...rows] = String(body)
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(','))
  const columnOf = (status: string, name: string) => {
    const at = (column: string) => head?.indexOf(column) ?? -1
    return rows.filter((row) => row[at('status')] === status).map((row) => row[at(name)] ?? '')
  }
  return {
    numbersOf: (status) => columnOf(status, 'chatNumber').sort(),
    errorsOf: (status) => [...new Set(columnOf(status, 'errorCode'))],
    total: rows.length,
  }
}

/** How many messages the simulator has accepted so far. */
export async function countAccepted({ control }: Sandbox): Promise<number> {
  return (await succeed(control('GET', '/messages?limit=0'))).body.accepted
}

export async function readProgress({ pool }: Database, id: string): Promise<Progress> {
  const { rows } = await pool.query<Progress>(
    `SELECT coalesce((SELECT prepared_n FROM broadcasts WHERE id = $1), 0) AS prepared,
       (SELECT count(*)::int FROM messages WHERE broadcast_id = $1) AS recorded`,
    [id],
  )
  return rows[0] as Progress
}

/** How many jobs are there that send broadcasts, or will. */
export async function countSendingJobs({ pool }: Database): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM jobs WHERE task = 'send_broadcast'`,
  )
  return rows[0]?.count ?? 0
}

/** Resolves when the simulator has sent all callbacks, and the service has processed them. */
export async function untilCallbacksAreWorkedOff({ control }: Sandbox, { pool }: Database): Promise<void> {
  await vi.waitFor(async () => {
    expect((await succeed(control('POST', '/idle', { timeout_ms: 10_000 }))).body).toMatchObject({ pending: 0 })
    const { rows } = await pool.query('SELECT count(*)::int AS count FROM callbacks WHERE waiting')
    expect(rows).toEqual([{ count: 0 }])
  }, patience)
}

/** Has the service that runs do a recurring task at once, and not when its minute comes. */
export async function runNow({ pool }: Database, task: JobTask): Promise<void> {
  await pool.query('UPDATE jobs SET run_at = now(), repeat = process_id IS NOT NULL WHERE task = $1', [task])
  await vi.waitFor(async () => {
    const { rows } = await pool.query(
      'SELECT run_at <= now() OR process_id IS NOT NULL OR error IS NOT NULL AS waiting FROM jobs WHERE task = $1',
      [task],
    )
    expect(rows).toEqual([{ waiting: false }])
  }, patience)
}

/**
 * Lets the 15 minutes pass after which nothing more is expected to be heard of messages whose outcome is outstanding.
 */
export async function letOutcomesFallDue({ pool }: Database): Promise<void> {
  await pool.query(
    `UPDATE messages SET recorded_at = recorded_at - interval '20 minutes' WHERE outcome IS NOT NULL AND broadcast_id IS NOT NULL`,
  )
  await pool.query(
    `INSERT INTO service_uptime AS u (up_since, seen_at) VALUES (now() - interval '20 minutes', now())
     ON CONFLICT (singleton) DO UPDATE SET up_since = excluded.up_since, seen_at = excluded.seen_at`,
  )
}
