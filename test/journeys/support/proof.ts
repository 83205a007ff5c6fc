import { expect } from 'vitest'
import type { Database } from '../../../src/database/pool.js'
import type { FileServer } from './file-server.js'
import type { AcceptedMessage, Service } from './service.js'
import { type Conversation, type HeldSend, hasFile, shownReaction } from './step-sends.js'
import type { Fate } from './steps.js'
import { readConversation } from './traffic.js'

/** What stands here, to be held against the upstream's record. */
export interface Evidence {
  service: Service
  database: Database
  files: FileServer
  /** Everything that the upstream ever accepted. */
  record: readonly AcceptedMessage[]
}

/** How a send shows when everything has come to rest. `settled`: by its statuses; `sent`: by its answer alone. */
export type Standing = 'absent' | 'unknown' | 'sent' | 'settled'

type Shown = Awaited<ReturnType<typeof readConversation>>['messages'][number]

/** What is to become of a send that died with this fate, once the client of a keyed one has asked again. */
export function standingOf({ key }: HeldSend, fate: Fate, tellsStatuses: boolean): Standing {
  if (fate === 'nothing' && key === null) return 'absent'
  if (fate === 'recorded') return 'unknown'
  if (tellsStatuses) return 'settled'
  return fate === 'accepted' ? 'unknown' : 'sent'
}

/** The upstream's record of a send, by what it says and not by our id. */
export function acceptancesOf(record: readonly AcceptedMessage[], { conversation, mark }: HeldSend): AcceptedMessage[] {
  return acceptedIn(record, conversation).filter(({ payload }) =>
    JSON.stringify(payload).includes(JSON.stringify(mark)),
  )
}

/** None of our ids was sent twice, to any recipient and with any content. */
export function expectNothingTwice(record: readonly AcceptedMessage[]): void {
  const ids = record.map(({ payload }) => payload.biz_opaque_callback_data)
  expect(ids.filter((id) => !/^[0-9a-f-]{36}$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(record.length)
}

/** Of each send there is as much here and at the upstream as there is to be, and it shows how it stands. */
export async function expectSends(
  evidence: Evidence,
  sends: readonly HeldSend[],
  fate: Fate,
  tellsStatuses: boolean,
): Promise<void> {
  for (const send of sends) {
    const standing = standingOf(send, fate, tellsStatuses)
    const found = await findMessages(evidence, send)
    const accepted = acceptancesOf(evidence.record, send)
    const isSent = fate === 'accepted' || fate === 'kept' || (fate === 'nothing' && send.key !== null)
    expect(accepted, `acceptances of ${send.mark}`).toHaveLength(isSent ? 1 : 0)
    expect(found, `messages of ${send.mark}`).toHaveLength(standing === 'absent' ? 0 : 1)
    if (standing !== 'absent') expect(found[0], send.mark).toMatchObject(shapeOf(send, standing, accepted[0]))
  }
}

/**
 * Each conversation is what the upstream accepted for it and what it never heard of, each once and without a gap; each
 * acceptance that is known has its one event, and each file can be fetched.
 */
export async function expectConversations(
  evidence: Evidence,
  conversations: readonly Conversation[],
  pageSize: number,
): Promise<void> {
  for (const conversation of conversations) {
    const { organization, number } = conversation
    const { messages, total } = await readConversation(evidence.service, organization, number, pageSize)
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
    expect(total).toBe(messages.length)
    expectAcknowledged(conversation, messages)
    const reactions = await readReactions(evidence.database, conversation)
    const all = [...messages, ...reactions]
    expectAsAccepted(acceptedIn(evidence.record, conversation), all)
    await expectEvents(evidence.database, conversation, all)
    await expectFiles(evidence.files, messages)
  }
}

/** What only the tables show: no gap in the numbers of a conversation, no file that nobody would remove. */
export async function expectSoundTables({ pool }: Database): Promise<void> {
  const gaps = await pool.query(
    `SELECT c.id, c.last_seq, count(m.seq)::int AS count, min(m.seq) AS first, max(m.seq) AS last
     FROM contacts c LEFT JOIN messages m ON m.organization_id = c.organization_id AND m.contact_id = c.id
     GROUP BY c.organization_id, c.id, c.last_seq
     HAVING count(m.seq) <> c.last_seq OR max(m.seq) <> c.last_seq OR min(m.seq) <> 1`,
  )
  expect(gaps.rows).toEqual([])
  const strays = await pool.query(
    `SELECT f.id, f.message_id FROM media f
     LEFT JOIN messages m ON m.organization_id = f.organization_id AND m.id = f.message_id AND m.media_id = f.id
     WHERE f.message_id IS NOT NULL AND m.id IS NULL`,
  )
  expect(strays.rows).toEqual([])
  const lost = await pool.query(
    `SELECT m.id, m.media_id FROM messages m
     LEFT JOIN media f ON f.organization_id = m.organization_id AND f.id = m.media_id AND f.message_id = m.id
     WHERE m.media_id IS NOT NULL AND f.id IS NULL`,
  )
  expect(lost.rows).toEqual([])
}

function shapeOf(
  { conversation, key, kind }: HeldSend,
  standing: Standing,
  accepted: AcceptedMessage | undefined,
): object {
  const file = hasFile(kind) ? { media_url: expect.stringContaining('/media/') } : {}
  if (standing === 'unknown') {
    // A send that nobody asks for again is called unknown a little later.
    const outcome = key === null ? expect.stringMatching(/^(pending|unknown)$/) : 'unknown'
    return { ...file, message_id: null, message_status: 'sent', outcome, error: null }
  }
  const read = conversation.number.endsWith('000006') ? 'delivered' : 'read'
  return {
    ...file,
    id: accepted?.payload.biz_opaque_callback_data,
    message_id: accepted?.id,
    message_status: standing === 'sent' || kind === 'reaction' ? 'sent' : read,
    outcome: null,
    error: null,
  }
}

async function findMessages({ service, database }: Evidence, send: HeldSend): Promise<Shown[]> {
  const { conversation, kind, mark } = send
  const { messages } = await readConversation(service, conversation.organization, conversation.number)
  if (kind !== 'reaction') return messages.filter(({ message }) => message === mark)
  const reactions = (await readReactions(database, conversation)).filter(({ about }) => about === mark)
  const target = messages.find(({ message_id }) => message_id === mark)
  expect(target?.reactions, `reactions to ${mark}`).toMatchObject(reactions.map(() => shownReaction))
  return reactions
}

function expectAcknowledged({ acknowledged }: Conversation, messages: readonly Shown[]): void {
  for (const { text, upstreamId } of acknowledged) {
    const found = messages.filter(({ message }) => message === text)
    expect(found.map(({ message_id }) => message_id)).toEqual([upstreamId])
  }
}

/** A status of the upstream decides the outcome of a message. */
function expectAsAccepted(accepted: readonly AcceptedMessage[], messages: readonly Shown[]): void {
  const byId = new Map(messages.map((message) => [message.id, message]))
  for (const { id, payload, statuses } of accepted) {
    const message = byId.get(payload.biz_opaque_callback_data)
    expect(message, `the message that the upstream accepted as ${id}`).toBeDefined()
    if (statuses.length > 0) expect(message).toMatchObject({ message_id: id, outcome: null, error: null })
    else expect([id, null]).toContain(message?.message_id)
    byId.delete(payload.biz_opaque_callback_data)
  }
  for (const message of byId.values()) {
    expect(message).toMatchObject({ message_id: null, message_status: 'sent', error: null })
    expect(['pending', 'unknown']).toContain(message.outcome)
  }
}

async function expectEvents({ pool }: Database, conversation: Conversation, messages: readonly Shown[]): Promise<void> {
  const { rows } = await pool.query<{ event: string }>(
    `SELECT type || ' ' || coalesce(message_id::text, data -> 'message' ->> 'id') AS event FROM events
     WHERE organization_id = $1 AND contact_id = $2 AND type IN ('message.sent', 'message.reaction', 'message.failed')`,
    [conversation.organization.id, conversation.contactId],
  )
  const raised = messages
    .filter(({ outcome }) => outcome === null)
    .map(({ id, message_type }) => `${message_type === 'reaction' ? 'message.reaction' : 'message.sent'} ${id}`)
  expect(rows.map(({ event }) => event).sort()).toEqual(raised.sort())
}

async function expectFiles(files: FileServer, messages: readonly Shown[]): Promise<void> {
  for (const { message, message_type, media_url } of messages) {
    if (media_url === null) continue
    const file = await fetch(media_url)
    expect({ message, status: file.status }).toEqual({ message, status: 200 })
    const content = message_type === 'document' ? files.document : files.photo
    expect(Buffer.from(await file.arrayBuffer()).equals(content)).toBe(true)
  }
}

/** Reactions show only on their messages, and there only the last one: they are looked up one by one. */
async function readReactions({ pool }: Database, { organization, contactId }: Conversation): Promise<Shown[]> {
  const { rows } = await pool.query(
    `SELECT id, upstream_id AS message_id, message_type, status AS message_status, outcome, error, context_upstream_id AS about
     FROM messages WHERE organization_id = $1 AND contact_id = $2 AND seq IS NULL`,
    [organization.id, contactId],
  )
  return rows
}

function acceptedIn(record: readonly AcceptedMessage[], { organization, number }: Conversation): AcceptedMessage[] {
  return record.filter(({ phone_number_id, to }) => phone_number_id === organization.phoneNumberId && to === number)
}
