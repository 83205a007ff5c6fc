import { expect, vi } from 'vitest'
import { patience } from '../../support/patience.js'
import type { TestOrganization } from '../../support/world.js'
import { releaseLocks } from './locks.js'
import {
  acceptancesOf,
  expectConversations,
  expectNothingTwice,
  expectSends,
  expectSoundTables,
  standingOf,
} from './proof.js'
import type { Answer, Service } from './service.js'
import { ask, type Conversation, drawSends, type HeldSend, makeConversations } from './step-sends.js'
import type { Aftermath, Fate, Ground, Step } from './steps.js'

/** What the rounds are played on; each leaves a new service behind. */
export interface StepStage extends Ground {
  organizations: readonly TestOrganization[]
  /** All that were begun so far, in all rounds. */
  conversations: Conversation[]
  service: Service
  /** Starts the service anew over the same data. */
  restart(): Promise<Service>
}

/** How the upstream tells of what it accepted: at once, late, twice, in disorder, or not at all. */
const WAYS_TO_TELL = [
  { delay_ms: 0 },
  { delay_ms: 1_000 },
  { duplicate: 1 },
  { duplicate: 0.5, disorder: 1 },
  { statuses: false },
]
const ORDINARY = { delay_ms: 5, duplicate: 0, disorder: 0, statuses: true, slow_ms: 0 }

/**
 * Holds some sends at a step, kills the service, starts it again, lets the clients ask again, and holds what stands
 * here against the upstream's record.
 */
export async function playStep(stage: StepStage, step: Step, seed: number): Promise<void> {
  const { service, proxy, files } = stage
  try {
    await play(stage, step, seed)
  } finally {
    // A round that fails must not spoil the next one.
    await releaseLocks()
    proxy.letThrough()
    files.letThrough()
    if (stage.service === service) {
      service.program.killGroup()
      stage.service = await stage.restart()
    }
  }
}

async function play(stage: StepStage, step: Step, seed: number): Promise<void> {
  const { sandbox } = stage
  const settings = { ...ORDINARY, ...WAYS_TO_TELL[seed % WAYS_TO_TELL.length], seed }
  await sandbox.control('POST', '/settings', ORDINARY)
  const conversations = await makeConversations(stage.service, stage.organizations, step.endings, seed)
  stage.conversations.push(...conversations)
  const sends = await drawSends(stage, conversations, step, seed)
  await sandbox.control('POST', '/settings', settings)

  const { aftermath, heard } = await dieAt(stage, step, sends)
  await aftermath.beforeRestart?.()
  stage.service = await stage.restart()
  await sandbox.control('POST', '/settings', { delay_ms: 5 })
  await askAgain(stage.service, sends, step.fate, aftermath)

  expect((await sandbox.control('POST', '/idle', { timeout_ms: 20_000 })).body).toMatchObject({ pending: 0 })
  const record = await sandbox.accepted()
  expectNothingTwice(record)
  await vi.waitFor(async () => {
    await expectSends({ ...stage, record }, sends, step.fate, settings.statuses)
    await expectConversations({ ...stage, record }, conversations, 100)
  }, patience)
  for (const [index, send] of sends.entries()) {
    if (send.key === null) continue
    const answer = await ask(stage.service, send)
    const [accepted] = acceptancesOf(record, send)
    if (standingOf(send, step.fate, settings.statuses) === 'unknown') expectUnknown(answer)
    else expectAccepted(answer, accepted?.id)
    expect(answer?.headers.get('idempotent-replayed')).toBe('true')
    if (heard[index]) expect(answer?.body).toEqual(heard[index].body)
  }
  expect(await sandbox.accepted()).toHaveLength(record.length)
  await expectSoundTables(stage.database)
}

/** Kills the service when all sends are at the step; `heard` are the answers that their clients got all the same. */
async function dieAt(
  stage: StepStage,
  step: Step,
  sends: readonly HeldSend[],
): Promise<{ aftermath: Aftermath; heard: (Answer | null)[] }> {
  const { service, proxy, files } = stage
  const asked: Promise<Answer | null>[] = []
  const aftermath = await step.reach(stage, sends, () => asked.push(...sends.map((send) => ask(service, send))))
  service.program.killGroup()
  expect(await service.program.exited).toEqual({ code: null, signal: 'SIGKILL' })
  proxy.letThrough()
  files.letThrough()
  const heard = await Promise.all(asked)
  const early = heard.filter((answer) => answer !== null && (step.fate !== 'kept' || answer.status !== 200))
  expect(early).toEqual([])
  return { aftermath, heard }
}

/** All at once, as clients do that were waiting; who hears of an unknown outcome asks once more. */
async function askAgain(
  service: Service,
  sends: readonly HeldSend[],
  fate: Fate,
  { whileAskedAgain }: Aftermath,
): Promise<void> {
  const keyed = sends.filter(({ key }) => key !== null)
  const asking = Promise.all(keyed.map((send) => ask(service, send)))
  await whileAskedAgain?.(keyed.length)
  const answers = await asking
  for (const answer of answers) {
    if (answer?.status === 500) expectUnknown(answer)
    else expectAccepted(answer)
    if (fate === 'recorded') expect(answer?.status).toBe(500)
    if (fate === 'nothing' || fate === 'kept') expect(answer?.status).toBe(200)
    if (fate === 'nothing') expect(answer?.headers.get('idempotent-replayed')).toBeNull()
  }
  const unknown = keyed.filter((_, index) => answers[index]?.status === 500)
  await Promise.all(unknown.map((send) => ask(service, send)))
}

function expectAccepted(answer: Answer | null, upstreamId: unknown = expect.any(String)): void {
  expect(answer).toMatchObject({ status: 200, body: { success: true, data: { message_id: upstreamId } } })
}

function expectUnknown(answer: Answer | null): void {
  expect(answer).toMatchObject({
    status: 500,
    body: { success: false, error: 'Outcome unknown', retryable: false, id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  })
}
