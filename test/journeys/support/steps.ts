import { expect, vi } from 'vitest'
import type { Database } from '../../../src/database/pool.js'
import { patience } from '../../support/patience.js'
import type { FileServer } from './file-server.js'
import { comeThrough, comeToNothing, type Lock, lockKeys, lockMessages, untilWaiting } from './locks.js'
import type { Sandbox } from './service.js'
import type { HeldSend, Kind, PlanOptions } from './step-sends.js'
import type { HeldCall, UpstreamProxy } from './upstream-proxy.js'

/** Where sends can be held. */
export interface Ground {
  database: Database
  sandbox: Sandbox
  proxy: UpstreamProxy
  files: FileServer
}

/**
 * What has become of a send that died at a step. `nothing`: no message is there, its key is free. `recorded`: it stands
 * in the conversation and never left. `accepted`: the upstream has it, and nobody here knows. `kept`: its acceptance is
 * kept.
 */
export type Fate = 'nothing' | 'recorded' | 'accepted' | 'kept'

/** What happens to what the dead process left under way. */
export interface Aftermath {
  /** Before the service is started again. */
  beforeRestart?(): Promise<void>
  /** While the clients ask again for their sends; `asking` of them do. */
  whileAskedAgain?(asking: number): Promise<void>
}

/** One step of a send, at which the service is made to die, and the sends that it is tried with. */
export interface Step extends PlanOptions {
  name: string
  fate: Fate
  /** Begins the sends, and resolves when every one of them is held at the step. */
  reach: Reach
}

type Reach = (ground: Ground, sends: readonly HeldSend[], begin: () => void) => Promise<Aftermath>

const ALL: readonly Kind[] = ['text', 'interactive', 'interactive with image', 'image', 'document', 'reaction']
const FILES: readonly Kind[] = ['interactive with image', 'image', 'document']
const REACTIONS: readonly Kind[] = ['reaction']
/** Several sends would share a statement, or wait in the process for the one that waits in PostgreSQL. */
const ALONE = { maxSends: 1 }
/** Far longer than it takes to see that the upstream has accepted, and to kill. */
const SLOW_MS = 3_000

/** Every step of a send, in the order in which a send goes through them. */
export const STEPS: readonly Step[] = [
  step('while its file is downloaded', 'nothing', holdDownloads, { kinds: FILES }),
  step('before its file is uploaded', 'nothing', holdUploads('are lost'), { kinds: FILES }),
  step('while its file is uploaded', 'nothing', holdUploads('arrive'), { kinds: FILES }),
  step('between upload and record', 'nothing', holdRecords('come to nothing'), { ...ALONE, kinds: FILES }),
  step('between upload and late record', 'recorded', holdRecords('come through'), { ...ALONE, kinds: FILES }),
  step('before it is recorded', 'nothing', holdRecords('come to nothing'), ALONE),
  step('before it is recorded late', 'recorded', holdRecords('come through'), ALONE),
  step('before the call is made', 'recorded', holdCalls('are lost')),
  step('while the call is on its way', 'accepted', holdCalls('arrive')),
  step('while the call is on its way for long', 'accepted', holdCalls('arrive late')),
  step('before the upstream answers', 'accepted', waitForSlowAnswers, { endings: ['000004'] }),
  step('while the answer is on its way', 'accepted', holdAnswers),
  step('while the answer is on its way and statuses are here', 'accepted', holdAnswersAfterStatuses),
  step('before the answer is kept', 'accepted', holdAcceptances('come to nothing'), ALONE),
  step('before the answer is kept late', 'kept', holdAcceptances('come through'), ALONE),
  step('before the answer to the client is kept', 'kept', holdKeptAnswers('come to nothing'), { allKeyed: true }),
  step('before the answer to the client is kept late', 'kept', holdKeptAnswers('come through'), { allKeyed: true }),
  step('before the client has heard the answer', 'kept', loseAnswersToClients),
  step('while the call of a reaction is on its way', 'accepted', holdCalls('arrive'), { kinds: REACTIONS }),
  step('while the answer to a reaction is on its way', 'accepted', holdAnswers, { kinds: REACTIONS }),
  step('before the answer to a reaction is kept', 'accepted', holdAcceptances('come to nothing'), {
    ...ALONE,
    kinds: REACTIONS,
  }),
  step('before the answer to a reaction is kept late', 'kept', holdAcceptances('come through'), {
    ...ALONE,
    kinds: REACTIONS,
  }),
]

function step(
  name: string,
  fate: Fate,
  reach: Reach,
  { kinds = ALL, endings = ['100001', '000006'], allKeyed = false, maxSends = 8 }: Partial<PlanOptions> = {},
): Step {
  return { name, fate, reach, kinds, endings, allKeyed, maxSends }
}

async function holdDownloads({ files }: Ground, sends: readonly HeldSend[], begin: () => void): Promise<Aftermath> {
  files.hold()
  begin()
  await vi.waitFor(() => expect(files.held).toBe(sends.length), patience)
  return {}
}

function holdUploads(uploads: 'are lost' | 'arrive'): Reach {
  return async ({ proxy }, sends, begin) => {
    const calls = await holdOnTheWay(proxy, { what: 'call', of: 'media' }, sends, begin)
    return uploads === 'arrive' ? { beforeRestart: () => passOn(calls) } : {}
  }
}

/** What becomes of statements that wait in PostgreSQL when their process dies. */
type Waiting = 'come through' | 'come to nothing'

function endWaiting({ database }: Ground, lock: Lock, waiting: Waiting): Aftermath {
  const end = waiting === 'come through' ? comeThrough : comeToNothing
  return { beforeRestart: () => end(database, lock) }
}

function holdRecords(waiting: Waiting): Reach {
  return async (ground, sends, begin) => endWaiting(ground, await holdStatements(ground, sends, begin), waiting)
}

async function holdStatements({ database }: Ground, sends: readonly HeldSend[], begin: () => void): Promise<Lock> {
  const lock = await lockMessages(database)
  begin()
  await untilWaiting(database, 'record', sends.length)
  return lock
}

function holdCalls(calls: 'are lost' | 'arrive' | 'arrive late'): Reach {
  return async ({ proxy }, sends, begin) => {
    const held = await holdOnTheWay(proxy, { what: 'call', of: 'messages' }, sends, begin)
    switch (calls) {
      case 'are lost':
        return {}
      case 'arrive':
        return { beforeRestart: () => passOn(held) }
      case 'arrive late':
        return { whileAskedAgain: () => passOn(held) }
    }
  }
}

async function waitForSlowAnswers(
  { sandbox }: Ground,
  sends: readonly HeldSend[],
  begin: () => void,
): Promise<Aftermath> {
  await sandbox.control('POST', '/settings', { slow_ms: SLOW_MS })
  const before = (await sandbox.accepted()).length
  begin()
  await vi.waitFor(async () => expect(await sandbox.accepted()).toHaveLength(before + sends.length), patience)
  return {}
}

async function holdAnswers({ proxy }: Ground, sends: readonly HeldSend[], begin: () => void): Promise<Aftermath> {
  await holdOnTheWay(proxy, { what: 'answer', of: 'messages' }, sends, begin)
  return {}
}

async function holdAnswersAfterStatuses(
  ground: Ground,
  sends: readonly HeldSend[],
  begin: () => void,
): Promise<Aftermath> {
  await holdAnswers(ground, sends, begin)
  await ground.sandbox.control('POST', '/idle', {})
  return {}
}

/** The lock is taken before the upstream knows of the messages: its statuses must not be faster. */
function holdAcceptances(waiting: Waiting): Reach {
  return async (ground, sends, begin) => {
    const calls = await holdOnTheWay(ground.proxy, { what: 'call', of: 'messages' }, sends, begin)
    const lock = await lockMessages(ground.database)
    await passOn(calls)
    await untilWaiting(ground.database, 'keepAcceptance', sends.length)
    return endWaiting(ground, lock, waiting)
  }
}

function holdKeptAnswers(waiting: Waiting): Reach {
  return async (ground, sends, begin) => {
    const calls = await holdOnTheWay(ground.proxy, { what: 'call', of: 'messages' }, sends, begin)
    const lock = await lockKeys(ground.database, keysOf(sends))
    await passOn(calls)
    await untilWaiting(ground.database, 'keepAnswer', sends.length)
    return endWaiting(ground, lock, waiting)
  }
}

async function loseAnswersToClients(
  { proxy, database }: Ground,
  sends: readonly HeldSend[],
  begin: () => void,
): Promise<Aftermath> {
  const calls = await holdOnTheWay(proxy, { what: 'call', of: 'messages' }, sends, begin)
  await passOn(calls)
  await vi.waitFor(async () => {
    const { rows } = await database.pool.query(
      `SELECT (SELECT count(*)::int FROM messages WHERE id::text = ANY ($1) AND accepted_at IS NOT NULL) AS accepted,
         (SELECT count(*)::int FROM idempotency_keys WHERE key = ANY ($2) AND status = 200) AS answered`,
      [calls.map(messageIdOf), keysOf(sends)],
    )
    expect(rows).toEqual([{ accepted: sends.length, answered: keysOf(sends).length }])
  }, patience)
  return {}
}

async function holdOnTheWay(
  proxy: UpstreamProxy,
  { what, of }: { what: 'call' | 'answer'; of: 'messages' | 'media' },
  sends: readonly HeldSend[],
  begin: () => void,
): Promise<HeldCall[]> {
  proxy.hold(what, of)
  begin()
  await vi.waitFor(() => expect(proxy.held).toHaveLength(sends.length), patience)
  proxy.letThrough()
  return [...proxy.held]
}

async function passOn(calls: readonly HeldCall[]): Promise<void> {
  await Promise.all(calls.map((call) => call.pass()))
}

function messageIdOf({ body }: HeldCall): string {
  return JSON.parse(body.toString()).biz_opaque_callback_data
}

function keysOf(sends: readonly HeldSend[]): string[] {
  return sends.flatMap(({ key }) => key ?? [])
}
