import { asObject, asObjects, asText, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { isChat, isGroup, normalizeJid } from './jid.js'
import { toNetworkJson } from './network-message.js'

/** The names by which clients of the gateway know what the network tells. */
export type SignalName =
  | 'presence.update'
  | 'call'
  | 'groups.upsert'
  | 'groups.update'
  | 'group-participants.update'
  | 'messages.update'

/**
 * What the network tells besides messages and statuses: presence, calls, changes of groups, votes. Nothing records it;
 * webhooks get it as the library has it.
 */
export interface NetworkSignal {
  event: SignalName
  data: JsonObject | JsonObject[]
  /** The address of the chat. */
  chat: string
}

/** Larger ones are left out. */
const MAX_LENGTH = 256 * 1_024

/** Reads an event of the library; other kinds of events give an empty list. */
export function readSignals(name: string, data: unknown): NetworkSignal[] {
  switch (name) {
    case 'presence.update':
    case 'group-participants.update':
      return toSignal(name, data, asObject(data).id)
    case 'call':
      return asObjects(data).flatMap((call) => toSignal(name, call, call.groupJid ?? call.chatId ?? call.from))
    case 'groups.upsert':
    case 'groups.update':
      return asObjects(data).flatMap((group) => toSignal(name, [group], group.id))
    default:
      return []
  }
}

/** Whether it is about a group. */
export function isOfGroup({ chat }: NetworkSignal): boolean {
  return isGroup(chat)
}

function toSignal(event: SignalName, given: unknown, chat: unknown): NetworkSignal[] {
  const jid = asText(chat)
  const data = toNetworkJson(given)
  const isReadable = isJsonObject(data) || Array.isArray(data)
  if (jid === null || !isChat(jid) || !isReadable || JSON.stringify(data).length > MAX_LENGTH) return []
  return [{ event, data: data as JsonObject | JsonObject[], chat: normalizeJid(jid) }]
}
