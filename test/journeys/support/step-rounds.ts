import { expect } from 'vitest'
import type { TestOrganization } from '../../support/world.js'
import { proveConversations, proveSends } from './proof.js'
import type { Answer, Service } from './service.js'
import { ask, type Conversation, drawSends, type HeldSend, makeConversations } from './step-sends.js'
import type { Fate, Ground, Step } from './steps.js'
import { seeded } from './traffic.js'

/** What the rounds are played on; each leaves a new service behind. */
export interface StepStage extends Ground {
  organizations: readonly TestOrganization[]
  service: Service
  /** Starts the service anew over the same data. */
  restart(): Promise<Service>
}

/** How the upstream tells of what it accepted; `seed` takes turns through them. */
const CALLBACKS = [
  { delay_ms: 0 },
  { delay_ms: 1_000 },
  { delay_ms: 5, duplicate: 1 },
  { delay_ms: 5, duplicate: 0.5, disorder: 1 },
  { statuses: false },
]
const ORDINARY = { delay_ms: 5, duplicate: 0, disorder: 0, statuses: true, slow_ms: 0 }

/**
 * Holds one to eight sends at a step, kills the service, starts it again, lets the clients ask again, and proves that each
 * send was done once or, where nobody can know, not again.
 */
export async function playStep(stage: StepStage, step: Step, seed: number): Promise<Conversation[]> {
  const random = seeded(seed)
  const callbacks = { ...ORDINARY, ...CALLBACKS[seed % CALLBACKS.length], seed }
  await stage.sandbox.control('POST', '/settings', ORDINARY)
  const conversations = await makeConversations(stage.service, stage.organizations, step.endings, seed)
  const sends = await drawSends(stage.service, conversations, step, stage.files, seed, random)
  await stage.sandbox.control('POST', '/settings', callbacks)

  const aftermath = await dieAt(stage, step, sends)
  await aftermath.beforeRestart?.()
  stage.service = await stage.restart()
  // What is late comes now.
  await stage.sandbox.control('POST', '/settings', { delay_ms: 0 })
  const keyed = sends.filter(({ key }) => key !== null)
  const asking = Promise.all(keyed.map((send) => ask(stage.service, send)))
  await aftermath.whileAskedAgain?.(keyed.length)
  for (const answer of await asking) expectAnswer(answer, step.fate)

  const idle = await stage.sandbox.control('POST', '/idle', { timeout_ms: 20_000 })
  expect(idle.body).toMatchObject({ pending: 0 })
  const record = await stage.sandbox.accepted()
  await proveSends(stage, sends, step.fate, callbacks.statuses)
  await proveConversations(stage, conversations)
  await expectReplays(stage, keyed, step.fate, callbacks.statuses)
  expect(await stage.sandbox.accepted()).toEqual(record)
  return conversations
}

async function dieAt(stage: StepStage, step: Step, sends: readonly HeldSend[]) {
  const { service, proxy, files } = stage
  let answers: Promise<(Answer | null)[]> = Promise.resolve([])
  const aftermath = await step.reach(stage, sends, () => {
    answers = Promise.all(sends.map((send) => ask(service, send)))
  })
  service.program.killGroup()
  expect(await service.program.exited).toEqual({ code: null, signal: 'SIGKILL' })
  proxy.letThrough()
  files.letThrough()
  return { aftermath, heard: await answers }
}
