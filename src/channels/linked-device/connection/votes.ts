import { createHash } from 'node:crypto'
import { asObject, asObjects, asText, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { innerMessage } from '../../../model/messages/network-message.js'
import type { LinkedLibrary } from '../library.js'
import { isChat, isGroup, normalizeJid } from '../wire/jid.js'
import { POLLS } from '../wire/network-message.js'
import type { NetworkSignal } from '../wire/signals.js'

/** What reading a vote needs. */
export interface VoteContext {
  library: Pick<LinkedLibrary, 'decryptPollVote'>
  /** The stored poll with this network id. */
  findMessage: (networkId: string) => Promise<JsonObject | null>
  /** The addresses of this account. */
  own: readonly string[]
}

/** Whether a message of the library is a vote. */
export function isVote(info: JsonObject): boolean {
  return isJsonObject(innerMessage(asObject(info.message)).pollUpdateMessage)
}

/**
 * Reads a vote: the options of its poll, with the voter at those that were chosen. Null if the poll is not stored, or
 * the vote cannot be decrypted.
 */
export async function readVote(context: VoteContext, info: JsonObject): Promise<NetworkSignal | null> {
  const key = asObject(info.key)
  const { pollUpdateMessage } = innerMessage(asObject(info.message))
  const { pollCreationMessageKey, vote } = asObject(pollUpdateMessage)
  const target = asObject(pollCreationMessageKey)
  const [id, chat] = [asText(target.id), asText(key.remoteJid)]
  if (id === null || chat === null || !isChat(chat)) return null
  const poll = await context.findMessage(id)
  if (poll === null) return null
  const secret = asText(asObject(poll.messageContextInfo).messageSecret)
  const options = optionsOf(poll)
  const voters = key.fromMe === true ? context.own : addressesOf(key)
  const [voter] = voters
  if (secret === null || options.length === 0 || voter === undefined) return null
  const creators = target.fromMe === true ? context.own : addressesOf(target)
  const chosen = decrypt(context, asObject(vote), { id, secret, pairs: pairsOf(creators, voters) })
  if (chosen === null) return null
  const data = {
    keyId: id,
    remoteJid: normalizeJid(chat),
    fromMe: target.fromMe === true,
    ...(isGroup(chat) && asText(target.participant) !== null && { participant: target.participant }),
    status: 'SERVER_ACK',
    pollUpdates: options.map((name) => ({ name, voters: chosen.has(hashOf(name)) ? [voter] : [] })),
  }
  return { event: 'messages.update', data, chat: normalizeJid(chat) }
}

function optionsOf(poll: JsonObject): string[] {
  const inner = innerMessage(poll)
  const name = POLLS.find((one) => isJsonObject(inner[one]))
  const options = name === undefined ? [] : asObjects(asObject(inner[name]).options)
  return options.flatMap(({ optionName }) => asText(optionName) ?? [])
}

/** The addresses of who wrote the message of a key. */
function addressesOf({ remoteJid, remoteJidAlt, participant, participantAlt }: JsonObject): string[] {
  const names = [participant, participantAlt, remoteJid, remoteJidAlt].map(asText).filter((name) => name !== null)
  const people = names.filter((name) => isChat(name) && !isGroup(name)).map(normalizeJid)
  return [...new Set(people)]
}

function pairsOf(creators: readonly string[], voters: readonly string[]): { creator: string; voter: string }[] {
  return creators.flatMap((creator) => voters.map((voter) => ({ creator, voter })))
}

/**
 * The hashes of the chosen options; null if no pair of addresses fits. Which address of a person a phone encrypts with,
 * number or hidden id, is not told.
 */
function decrypt(
  { library }: VoteContext,
  vote: JsonObject,
  { id, secret, pairs }: { id: string; secret: string; pairs: { creator: string; voter: string }[] },
): ReadonlySet<string> | null {
  const pollEncKey = Buffer.from(secret, 'base64')
  for (const { creator, voter } of pairs) {
    try {
      const context = { pollCreatorJid: creator, voterJid: voter, pollMsgId: id, pollEncKey }
      const { selectedOptions } = library.decryptPollVote?.(vote, context) ?? {}
      if (selectedOptions) return new Set(selectedOptions.map((hash) => Buffer.from(hash).toString('hex')))
    } catch {
      // Another pair may fit.
    }
  }
  return null
}

function hashOf(option: string): string {
  return createHash('sha256').update(option).digest('hex')
}
