import { expect, vi } from 'vitest'
import { patience } from '../../support/patience.js'
import type { TestOrganization } from '../../support/world.js'
import { type AcceptedMessage, type Answer, type Sandbox, type Service, succeed } from './service.js'
import {
  type Inbound,
  type Random,
  readConversation,
  type Send,
  seeded,
  shuffled,
  tellInbound,
  trySend,
  workThrough,
} from './traffic.js'

/** What the rounds of a test file are played on; each round leaves a new service behind. */
export interface Stage {
  sandbox: Sandbox
  organization: TestOrganization
  service: Service
  /** Starts the service anew over the same data. */
  restart(): Promise<Service>
  /** Ends the service without a chance to tidy up. */
  kill(service: Service): Promise<void>
}

/** What was asked for and told in one round; only what was begun. */
export interface Round {
  people: string[]
  sends: Send[]
  inbounds: Inbound[]
}

const SENDS = 24
const INBOUNDS = 40
const WIDTH = 8

/**
 * Loads the service from both sides, kills it at a moment that the seed decides, starts it again, and holds it to what
 * it had promised: all that was acknowledged is there, and nothing is done twice however often it is asked for.
 */
export async function playRound(stage: Stage, seed: number): Promise<Round> {
  const random = seeded(seed)
  const plan = await makePlan(stage, seed, random)
  const round = await loadUntilKilled(stage, plan, random)
  stage.service = await stage.restart()
  await expectAcknowledged(stage, round)
  await repeat(stage, round, random)
  await expectSettled(stage, round)
  return round
}

/** Slow and broken answers make sends that are under way when the service dies. */
async function makePlan({ service, organization }: Stage, seed: number, random: Random): Promise<Round> {
  const prefix = `55119${String(seed).padStart(2, '0')}`
  const known = ['100001', '100002', '000004', '000004', '000005', '000006'].map((end) => prefix + end)
  for (const phone_number of new Set(known)) {
    await succeed(service.request('POST', '/contact', { key: organization.key, body: { phone_number } }))
  }
  const writers = [...known.slice(0, 3), `${prefix}200001`, `${prefix}200002`]
  const pick = (people: string[]) => people[Math.floor(random() * people.length)] ?? ''
  return {
    people: [...new Set([...known, ...writers])],
    sends: Array.from({ length: SENDS }, (_, index) => {
      const name = `send ${seed}-${index}`
      return { key: name, text: name, to: pick(known), answers: [] }
    }),
    inbounds: Array.from({ length: INBOUNDS }, (_, index) => {
      const name = `inbound ${seed}-${index}`
      return { id: `wamid.${name}`, text: name, from: pick(writers), acknowledged: false }
    }),
  }
}

async function loadUntilKilled(stage: Stage, plan: Round, random: Random): Promise<Round> {
  const { service, organization } = stage
  const begun: Round = { people: plan.people, sends: [], inbounds: [] }
  let untilKill = 3 + Math.floor(random() * (SENDS + INBOUNDS - 10))
  let killed: Promise<void> | undefined
  const acknowledged = () => {
    untilKill -= 1
    if (untilKill === 0) killed = stage.kill(service)
  }
  const tasks = [
    ...plan.sends.map((send) => async () => {
      begun.sends.push(send)
      const answer = await trySend(service, organization, send)
      if (answer) acknowledged()
      return answer !== null
    }),
    ...plan.inbounds.map((inbound) => async () => {
      begun.inbounds.push(inbound)
      const taken = await tellInbound(service, organization, inbound)
      if (taken) acknowledged()
      return taken
    }),
  ]
  await workThrough(shuffled(tasks, random), WIDTH)
  expect(killed).toBeDefined()
  await killed
  expect(await service.program.exited).toEqual({ code: null, signal: 'SIGKILL' })
  return begun
}

/** What had been answered with 200 is there without anybody repeating anything. */
export async function expectAcknowledged(
  { service, organization }: Pick<Stage, 'service' | 'organization'>,
  round: Round,
): Promise<void> {
  const promised = [
    ...round.inbounds.filter(({ acknowledged }) => acknowledged).map(({ text, id }) => ({ message: text, id })),
    ...round.sends.flatMap(({ text, answers }) => answers.filter(isAccepted).map((answer) => toPromise(text, answer))),
  ]
  await vi.waitFor(async () => {
    const { messages } = await readAll(service, organization, round.people)
    const found = new Set(messages.map(({ message, message_id }) => `${message} ${message_id}`))
    expect(promised.filter(({ message, id }) => !found.has(`${message} ${id}`))).toEqual([])
  }, patience)
}

/** As the upstream and the clients would: what was not acknowledged again, and some of what was. */
async function repeat({ service, organization }: Stage, round: Round, random: Random): Promise<void> {
  const tellAgain = round.inbounds.filter(({ acknowledged }) => !acknowledged || random() < 0.2)
  await workThrough(
    shuffled(tellAgain, random).map((inbound) => () => tellInbound(service, organization, inbound)),
    WIDTH,
  )
  for (const send of round.sends) {
    const before = send.answers.at(-1)
    const answer = await trySend(service, organization, send)
    expect(answer).not.toBeNull()
    expect([200, 500]).toContain(answer?.status)
    if (answer?.status === 500) expectUnknown(answer)
    if (before) expect(answer?.headers.get('idempotent-replayed')).toBe('true')
    if (before && isAccepted(before)) expect(answer?.body).toEqual(before.body)
  }
}

/** When all callbacks have come: each send was accepted once at most, and stands here as the upstream has it. */
export async function expectSettled(
  { sandbox, service, organization }: Pick<Stage, 'sandbox' | 'service' | 'organization'>,
  round: Round,
): Promise<void> {
  expect((await sandbox.control('POST', '/idle', { timeout_ms: 20_000 })).body).toMatchObject({ pending: 0 })
  const record = await sandbox.accepted()
  await vi.waitFor(async () => {
    const { messages, total } = await readAll(service, organization, round.people)
    const shown = new Map(messages.map((message) => [message.message, message]))
    // Each text once, in conversations that are as long as their messages' numbers say.
    expect(shown.size).toBe(messages.length)
    expect(total).toBe(messages.length)
    expect([...shown.keys()].sort()).toEqual([...round.sends, ...round.inbounds].map(({ text }) => text).sort())
    for (const send of round.sends) expectAsAccepted(shown.get(send.text), send, acceptancesOf(record, send))
  }, patience)
  for (const send of round.sends) {
    const answer = await trySend(service, organization, send)
    const [accepted] = acceptancesOf(record, send)
    expect(answer?.headers.get('idempotent-replayed')).toBe('true')
    if (accepted) expect(answer).toMatchObject({ status: 200, body: { data: { message_id: accepted.id } } })
    else expectUnknown(answer)
  }
  expect((await sandbox.accepted()).length).toBe(record.length)
}

function expectAsAccepted(message: unknown, { to }: Send, acceptances: AcceptedMessage[]): void {
  const [accepted, ...more] = acceptances
  expect(more).toEqual([])
  if (accepted) {
    expect(message).toMatchObject({
      id: accepted.payload.biz_opaque_callback_data,
      message_id: accepted.id,
      message_status: to.endsWith('000006') ? 'delivered' : 'read',
      outcome: null,
      error: null,
    })
  } else {
    // Recorded, and the service died before the call: nobody but the upstream can tell, so it stays open for 15
    // minutes.
    expect(message).toMatchObject({ message_id: null, message_status: 'sent', outcome: 'unknown', error: null })
  }
}

function expectUnknown(answer: Answer | null): void {
  expect(answer).toMatchObject({
    status: 500,
    body: { success: false, error: 'Outcome unknown', retryable: false, id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  })
}

async function readAll(service: Service, organization: TestOrganization, people: string[]) {
  const conversations = await Promise.all(people.map((person) => readConversation(service, organization, person)))
  return {
    messages: conversations.flatMap(({ messages }) => messages),
    total: conversations.reduce((sum, { total }) => sum + total, 0),
  }
}

function acceptancesOf(record: AcceptedMessage[], { text }: Send): AcceptedMessage[] {
  return record.filter(({ payload }) => payload.text.body === text)
}

function isAccepted({ status }: Answer): boolean {
  return status === 200
}

function toPromise(message: string, { body }: Answer): { message: string; id: string } {
  return { message, id: body.data.message_id }
}
