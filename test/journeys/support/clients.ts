import { expect, vi } from 'vitest'
import { PATIENCE_MS, patience } from '../../support/patience.js'
import type { TestOrganization } from '../../support/world.js'
import type { Round } from './rounds.js'
import { type Answer, call, type Service } from './service.js'
import { type Inbound, postInbound, postSend, type Send } from './traffic.js'

/** What clients ask for. */
export type Kind = 'send' | 'inbound' | 'change'

/** Clients of a service that ask one thing after the other, each again until it is taken. */
export interface Clients {
  /** All that was begun so far. */
  round: Round
  /** The summary that each contact was given last, by number. */
  summaries: ReadonlyMap<string, string>
  /** How many things of each kind have been taken, and how many requests put off with 503. */
  taken: Readonly<Record<Kind, number>>
  putOff: Readonly<Record<Kind, number>>
  /** The answers that are neither, requests that had none in time among them. */
  surprises: readonly unknown[]
  /** Lets each client end what it is at. */
  end(): Promise<void>
}

const CLIENTS: readonly Kind[] = ['send', 'send', 'send', 'inbound', 'inbound', 'inbound', 'change', 'change']

/** Starts the clients; `name`: stands in everything that they ask for; `people`: numbers of contacts. */
export function startClients(
  service: Service,
  organization: TestOrganization,
  name: string,
  people: readonly string[],
): Clients {
  const round: Round = { people: [...people], sends: [], inbounds: [] }
  const summaries = new Map<string, string>()
  const taken = { send: 0, inbound: 0, change: 0 }
  const putOff = { send: 0, inbound: 0, change: 0 }
  const surprises: unknown[] = []
  let isOver = false

  const work = async (kind: Kind, client: number) => {
    const person = people[client % people.length] as string
    for (let n = 0; !isOver; n++) {
      const ask = begin(kind, person, `${name} ${client}-${n}`)
      await vi.waitFor(async () => expect(await isTaken(kind, ask)).toBe(true), patience)
      taken[kind] += 1
    }
  }

  const begin = (kind: Kind, person: string, text: string): (() => Promise<Answer | null>) => {
    if (kind === 'send') {
      const send: Send = { key: text, to: person, text, answers: [] }
      round.sends.push(send)
      return () => ask(service, organization, send)
    }
    if (kind === 'inbound') {
      const inbound: Inbound = { id: `wamid.${text}`, from: person, text, acknowledged: false }
      round.inbounds.push(inbound)
      return () => postInbound(service, organization, inbound)
    }
    summaries.set(person, text)
    const options = { key: organization.key, body: { contact_summary: text } }
    return () => call(`${service.url}/contact?chat_id=${person}`, 'PATCH', options).catch(() => null)
  }

  const isTaken = async (kind: Kind, ask: () => Promise<Answer | null>): Promise<boolean> => {
    const answer = await inTime(ask())
    if (answer?.status === 200 || isUnknown(answer)) return true
    if (isPutOff(answer)) putOff[kind] += 1
    else surprises.push({ kind, status: answer?.status, body: answer?.body })
    return false
  }

  const ended = Promise.all(CLIENTS.map(work))
  return {
    round,
    summaries,
    taken,
    putOff,
    surprises,
    end: async () => {
      isOver = true
      await ended
    },
  }
}

async function ask(service: Service, organization: TestOrganization, send: Send): Promise<Answer | null> {
  const body = { phone_number: send.to, message_type: 'text', text: send.text }
  const answer = await postSend(service, organization.key, send.key, body)
  if (answer?.status === 200) send.answers.push(answer)
  return answer
}

/** No request may hang, even if the database is stopped. */
async function inTime(asked: Promise<Answer | null>): Promise<Answer | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), PATIENCE_MS)
  })
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

/** The upstream has been called, and what it said could not be kept: only its callbacks can tell. */
function isUnknown(answer: Answer | null): boolean {
  return answer?.status === 500 && answer.body.error === 'Outcome unknown'
}

function isPutOff(answer: Answer | null): boolean {
  return (
    answer?.status === 503 &&
    answer.body.error === 'Service unavailable' &&
    Number(answer.headers.get('retry-after')) >= 1
  )
}
