import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { errorMessage } from '../../lib/text/error-message.js'
import { asText, isJsonObject, type JsonObject } from '../../lib/text/json.js'
import type { DeviceAnswer, DeviceCommand, KnownMessage, MessageKey, NumberCheck, Sent } from '../device.js'
import type { DriverMessage } from '../driver.js'
import { CLOSE_CODES, codeOf } from './connection/close-reason.js'
import type { Condition } from './connection/condition.js'
import type { Connection } from './connection/connection.js'
import { KeysNotWritten } from './keys/key-store.js'
import type { FoundPerson, LinkedLibrary, SentMessage, Stanza } from './library.js'
import { isGroup, isLid, phoneOf, recipientJid, toJid } from './wire/jid.js'
import { toNetworkJson } from './wire/network-message.js'
import { toNetworkId } from './wire/own-id.js'
import { describeRefusal, readRefusalCode } from './wire/refusal.js'
import { type OpenedFile, toNetworkContent, toQuoted } from './wire/to-network.js'

/** The commands that need an open connection. */
export type OpenCommand = Exclude<DeviceCommand, { verb: 'connect' | 'restart' | 'logout' }>

export interface CommandContext {
  library: LinkedLibrary
  connection: Pick<Connection, 'socket' | 'directory'>
  openFile: (mediaId: string) => Promise<OpenedFile>
  /** Addresses that the network has confirmed, by number. */
  confirmed: Map<string, string>
  condition: Condition
  /** True once the session is stopped; commands stop waiting then. */
  isOver: () => boolean
}

/** Maximum wait for the network to confirm a number before a message. */
const CHECK_TIMEOUT_MS = 5_000
const MAX_CONFIRMED = 10_000
/** The business API's code, so that clients see the same code for both kinds of channel. */
const NOT_ON_NETWORK = 131026
const UNCONFIRMED: DeviceAnswer = { outcome: 'unknown', text: 'The network has not confirmed the message' }
const LATE: DeviceAnswer = { outcome: 'unknown', text: 'The network did not answer in time' }
const CUT_OFF: DeviceAnswer = { outcome: 'unknown', text: 'The connection was given up in the middle' }
const NOT_OPEN: DeviceAnswer = { outcome: 'not_open', text: 'Connection Closed' }

/** Runs a command over the open connection, waiting at most `timeoutMs`. Never throws. */
export async function runCommand(
  context: CommandContext,
  command: OpenCommand,
  timeoutMs: number,
): Promise<DeviceAnswer> {
  const { condition: watch, isOver } = context
  let answer: DeviceAnswer | null = null
  void attempt(context, command, timeoutMs).then((made) => {
    answer = made
    watch.notify()
  })
  await watch.waitUntil(() => answer !== null || isOver(), timeoutMs)
  return answer ?? (isOver() ? CUT_OFF : LATE)
}

async function attempt(context: CommandContext, command: OpenCommand, timeoutMs: number): Promise<DeviceAnswer> {
  try {
    return await perform(context, command, timeoutMs)
  } catch (error) {
    return toFailure(error)
  }
}

async function perform(context: CommandContext, command: OpenCommand, timeoutMs: number): Promise<DeviceAnswer> {
  const { socket } = context.connection
  switch (command.verb) {
    case 'send':
      return send(context, command.message, command.replyTo, timeoutMs)
    case 'delete_message': {
      const content = { delete: command.key }
      return sendContent(context, newNetworkId(), { jid: command.key.remoteJid, content }, timeoutMs)
    }
    case 'edit_message': {
      const content = { text: command.text, linkPreview: null, edit: command.key }
      return sendContent(context, newNetworkId(), { jid: command.key.remoteJid, content }, timeoutMs)
    }
    case 'check_numbers':
      return done(await checkNumbers(context, command.numbers))
    case 'profile_picture':
      return done({ url: await findPicture(context, toJid(command.jid), timeoutMs) })
    case 'set_presence':
      return done(await socket.sendPresenceUpdate(command.presence))
    case 'show_presence':
      return done(await socket.sendPresenceUpdate(command.presence, toJid(command.jid)))
    case 'mark_read':
      return done(await socket.readMessages(command.keys))
    case 'archive': {
      const lastMessages = command.last === null ? [] : [command.last]
      return done(await socket.chatModify({ archive: command.archive, lastMessages }, toJid(command.jid)))
    }
  }
}

async function send(
  context: CommandContext,
  { id, recipient, content }: DriverMessage,
  replyTo: KnownMessage | null,
  timeoutMs: number,
): Promise<DeviceAnswer> {
  // Files are opened last, so that no stream stays unread while the network is asked.
  const jid = await findRecipient(context, recipientJid(recipient))
  if (jid === null) return { outcome: 'refused', code: NOT_ON_NETWORK, text: 'The number is not on the network' }
  const quotes = replyTo !== null && content.type !== 'reaction'
  const options = quotes ? { quoted: toQuoted(context.library, replyTo) } : {}
  const everyone = await findEveryone(context, jid, content)
  const files = openFiles(context.openFile)
  try {
    const ready = await toNetworkContent(content, replyTo, files.open)
    if ('unsupported' in ready) return { outcome: 'unsupported', text: ready.unsupported }
    const message = { jid, content: { ...ready.content, ...everyone }, options }
    return await sendContent(context, toNetworkId(id), message, timeoutMs)
  } finally {
    files.close()
  }
}

/** Opens files and closes them when the message is sent. */
function openFiles(openFile: CommandContext['openFile']): { open: CommandContext['openFile']; close(): void } {
  const streams: Readable[] = []
  return {
    open: async (mediaId) => {
      const file = await openFile(mediaId)
      if ('stream' in file.source) {
        // A reader sees the error itself; without one it must not end the process.
        streams.push(file.source.stream.on('error', () => undefined))
      }
      return file
    },
    close: () => {
      for (const stream of streams) stream.destroy()
    },
  }
}

/** Mentions work only in groups. If the network does not list the members, the message is sent without mentions. */
async function findEveryone(
  { connection: { socket } }: CommandContext,
  jid: string,
  content: DriverMessage['content'],
): Promise<JsonObject> {
  if (!isGroup(jid) || !('mentionsEveryone' in content) || content.mentionsEveryone !== true) return {}
  const group = await socket.groupMetadata(jid).catch(() => null)
  const members = group?.participants ?? []
  return members.length === 0 ? {} : { mentions: members.map(({ id }) => id) }
}

/**
 * The library throws before the message is sent or while it is written to the socket. Only a failure to write the keys
 * comes after the message is out.
 */
async function sendContent(
  { connection: { socket } }: CommandContext,
  messageId: string,
  { jid, content, options }: { jid: string; content: JsonObject; options?: JsonObject },
  timeoutMs: number,
): Promise<DeviceAnswer> {
  const word = socket.waitForMessage(messageId, timeoutMs).catch(() => undefined)
  try {
    const sent = await socket.sendMessage(jid, content, { messageId, ...options })
    return toAnswer(jid, messageId, sent, await word)
  } catch (error) {
    return mayBeSent(error) ? UNCONFIRMED : toFailure(error)
  }
}

function toAnswer(jid: string, id: string, sent: SentMessage | undefined, word: Stanza | undefined): DeviceAnswer {
  if (word === undefined) return UNCONFIRMED
  const { error } = word.attrs
  if (word.tag === 'ack' && error !== undefined) {
    return { outcome: 'refused', code: readRefusalCode(error), text: describeRefusal(error) }
  }
  const message = toNetworkJson(sent?.message ?? null)
  const participant = asText(sent?.key.participant)
  const key: MessageKey = { remoteJid: jid, fromMe: true, id, ...(participant === null ? {} : { participant }) }
  const value: Sent = { key, message: isJsonObject(message) ? message : null }
  return done(value)
}

/** The network's address of a recipient; null if the network says that it has none. */
async function findRecipient(context: CommandContext, jid: string): Promise<string | null> {
  const phone = phoneOf(jid)
  if (phone === null) return jid
  const known = context.confirmed.get(phone)
  if (known !== undefined) return known
  const asked = askAbout(context, [phone]).catch(() => [])
  const people = await context.condition.withTimeout(asked, CHECK_TIMEOUT_MS)
  const person = people?.[0]
  // The network often does not answer; that says nothing about the number.
  if (person?.contact === undefined) return jid
  if (!person.contact) return null
  return remember(context, phone, toJid(person.id))
}

function remember({ confirmed }: CommandContext, phone: string, jid: string): string {
  const [oldest] = confirmed.keys()
  if (confirmed.size >= MAX_CONFIRMED && oldest !== undefined) confirmed.delete(oldest)
  confirmed.set(phone, jid)
  return jid
}

async function checkNumbers(context: CommandContext, numbers: readonly string[]): Promise<NumberCheck[]> {
  const jids = numbers.map(toJid)
  const phones = [...new Set(jids.map(phoneOf).filter((phone) => phone !== null))]
  const people = phones.length === 0 ? [] : await askAbout(context, phones)
  const found = new Map(phones.flatMap((phone, index) => matchPerson(people, phone, index, phones.length)))
  return Promise.all(numbers.map((number, index) => toCheck(context, number, jids[index] ?? '', found)))
}

async function toCheck(
  { connection: { directory, socket } }: CommandContext,
  number: string,
  jid: string,
  found: ReadonlyMap<string, FoundPerson>,
): Promise<NumberCheck> {
  if (isGroup(jid)) {
    const name = await socket.groupMetadata(jid).then(
      ({ subject }) => subject ?? '',
      () => null,
    )
    return { jid, exists: name !== null, number, ...(name ? { name } : {}) }
  }
  if (isLid(jid)) return { jid, exists: (await directory.findPhone(jid)) !== null, number, lid: jid }
  const person = found.get(phoneOf(jid) ?? '')
  if (!person?.contact) return { jid, exists: false, number }
  const lid = asText(person.lid)
  return { jid: toJid(person.id), exists: true, number, ...(lid === null ? {} : { lid }) }
}

/** Answers come in the order of the questions; the network may spell a number differently. */
function matchPerson(people: FoundPerson[], phone: string, index: number, asked: number): [string, FoundPerson][] {
  const person =
    people.find(({ id }) => phoneOf(toJid(id)) === phone) ?? (people.length === asked ? people[index] : undefined)
  return person ? [[phone, person]] : []
}

async function askAbout({ library, connection }: CommandContext, phones: readonly string[]): Promise<FoundPerson[]> {
  const query = new library.USyncQuery().withContactProtocol().withLIDProtocol()
  for (const phone of phones) query.withUser(new library.USyncUser().withPhone(`+${phone}`))
  const answer = await connection.socket.executeUSyncQuery(query)
  return answer?.list ?? []
}

/** The network answers with an error if the person has no picture or hides it. */
async function findPicture({ connection }: CommandContext, jid: string, timeoutMs: number): Promise<string | null> {
  try {
    return asText(await connection.socket.profilePictureUrl(jid, 'image', timeoutMs))
  } catch (error) {
    if (isConnectionLoss(error)) throw error
    return null
  }
}

function toFailure(error: unknown): DeviceAnswer {
  if (isConnectionLoss(error)) return NOT_OPEN
  const text = errorMessage(error)
  return { outcome: 'refused', code: codeOf(error), text }
}

/** The network may have received the message, or a part of it. */
function mayBeSent(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException
  return (
    error instanceof KeysNotWritten ||
    codeOf(error) === CLOSE_CODES.timed_out ||
    code === 'EPIPE' ||
    code === 'ECONNRESET'
  )
}

function isConnectionLoss(error: unknown): boolean {
  return codeOf(error) === CLOSE_CODES.closed
}

/** An id like those of the network's web client, which no message of ours has. */
function newNetworkId(): string {
  return `3EB0${randomBytes(9).toString('hex').toUpperCase()}`
}

function done(value: unknown): DeviceAnswer {
  return { outcome: 'done', value: value ?? null }
}
