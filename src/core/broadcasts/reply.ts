import type { Queryable } from '../../database/pool.js'
import { asObject, asText } from '../../lib/text/json.js'
import { normalizeText } from '../../lib/text/normalize.js'
import { findOptOut, isReOptIn, type OptOutWish } from '../../model/contacts/opt-out.js'
import { quickReplies, type Template } from '../../model/templates/template.js'
import {
  type BroadcastMessage,
  countReplyAsOptOut,
  findAnsweredCategory,
  findAnsweredMessage,
  listLatestBroadcastMessages,
  recordButtonClick,
} from '../../storage/broadcasts/replies.js'
import { endOptOut, endOptOutByHistory, optOutByHistoricReply, optOutByReply } from '../../storage/contacts/opt-outs.js'
import type { IncomingMessage } from '../../storage/messages/incoming.js'

/** What a customer's message means for broadcasts. */
export interface Reply {
  /** The pressed button. */
  button: Button | null
  optOut: OptOutWish | null
  isReOptIn: boolean
}

/** A button as the upstream reports it: its text and its payload. */
interface Button {
  /** Whether it is a quick reply of a template. */
  isOfTemplate: boolean
  texts: readonly string[]
  /** The upstream's id of the message with the button, if it is known. */
  on: string | null
}

/** Message types whose text the customer wrote or chose. */
const REPLIES = new Set(['text', 'image', 'video', 'audio', 'document', 'button', 'interactive'])

/** Reads what a message means for broadcasts, without any look-up; null if it means nothing, as most do. */
export function readReply(message: IncomingMessage): Reply | null {
  if (message.sender_type !== 'user-chat' || !REPLIES.has(message.message_type)) return null
  const reply = { button: readButton(message), optOut: readOptOut(message), isReOptIn: isReOptIn(message.text) }
  return reply.button || reply.optOut || reply.isReOptIn ? reply : null
}

/**
 * A choice that the organization offered ("Cancel" in a menu) does not opt the contact out, but may count in a
 * broadcast.
 */
function readOptOut({ message_type, text }: IncomingMessage): OptOutWish | null {
  const wish = findOptOut(text)
  return wish && message_type === 'interactive' ? { ...wish, isWhole: false } : wish
}

function readButton({ message_type, content, contextUpstreamId }: IncomingMessage): Button | null {
  const isOfTemplate = message_type === 'button'
  const texts = isOfTemplate ? readPressed(content) : readChosen(content)
  return texts.length === 0 ? null : { isOfTemplate, texts, on: contextUpstreamId }
}

function readPressed(content: unknown): string[] {
  const { text, payload } = asObject(content)
  return [text, payload].flatMap((value) => asText(value) ?? [])
}

function readChosen(content: unknown): string[] {
  const { title, id } = asObject(asObject(content).button_reply)
  return [title, id].flatMap((value) => asText(value) ?? [])
}

/**
 * Applies a reply in the transaction that records it as the message `messageId`, so it happens once. Clicks and
 * opt-outs count in their broadcasts. A reply that only asks to stop, or to start again, changes its contact, at any
 * time.
 */
export async function applyReply(
  transaction: Queryable,
  organizationId: string,
  { id: messageId, created_at: at }: IncomingMessage,
  reply: Reply,
): Promise<void> {
  const { button, optOut, isReOptIn } = reply
  if (button) await applyClick(transaction, organizationId, messageId, button)
  if (optOut) await countReplyAsOptOut(transaction, organizationId, messageId, at)
  if (await optsOut(transaction, organizationId, messageId, reply)) {
    await optOutByReply(transaction, organizationId, messageId, at)
  }
  if (isReOptIn) await endOptOut(transaction, organizationId, messageId, at)
}

/**
 * Applies a reply that only the history of a phone has: the contact opted out, or in again, at the time of the message.
 * Nothing is told of it, and it counts in no broadcast. Repeated, it changes nothing.
 */
export async function applyHistoricReply(
  transaction: Queryable,
  organizationId: string,
  { contactId, message }: { contactId: string; message: Pick<IncomingMessage, 'id' | 'created_at' | 'text'> },
  reply: Reply,
): Promise<void> {
  const { id: messageId, created_at: at, text: words } = message
  const wish = { contactId, at, words }
  if (await optsOut(transaction, organizationId, messageId, reply)) {
    await optOutByHistoricReply(transaction, organizationId, wish)
  }
  if (reply.isReOptIn) await endOptOutByHistory(transaction, organizationId, wish)
}

async function optsOut(
  transaction: Queryable,
  organizationId: string,
  messageId: string,
  { button, optOut }: Reply,
): Promise<boolean> {
  if (!optOut?.isWhole) return false
  return button === null || !(await isServiceButton(transaction, organizationId, messageId, button))
}

/** Buttons of these categories do not refer to broadcasts: they may cancel an appointment, for example. */
const SERVICE_CATEGORIES: readonly (string | null)[] = ['UTILITY', 'AUTHENTICATION']

/** Whether the button belongs to a utility or authentication template. */
async function isServiceButton(
  transaction: Queryable,
  organizationId: string,
  messageId: string,
  button: Button,
): Promise<boolean> {
  if (!button.isOfTemplate) return false
  if (button.on !== null) {
    const category = await findAnsweredCategory(transaction, organizationId, messageId, button.on)
    if (category !== null) return SERVICE_CATEGORIES.includes(category)
  }
  const latest = await listLatestBroadcastMessages(transaction, organizationId, messageId)
  const sent = latest.find(({ template }) => findQuickReply(template, button) !== undefined)
  return SERVICE_CATEGORIES.includes(sent?.template.category ?? null)
}

async function applyClick(
  transaction: Queryable,
  organizationId: string,
  messageId: string,
  button: Button,
): Promise<void> {
  for (const sent of await findCandidates(transaction, organizationId, messageId, button.on)) {
    const text = findQuickReply(sent.template, button)
    if (text !== undefined) return recordButtonClick(transaction, organizationId, sent, text)
  }
}

/** The answered broadcast message; the contact's latest ones if the upstream does not say which one was answered. */
async function findCandidates(
  transaction: Queryable,
  organizationId: string,
  messageId: string,
  on: string | null,
): Promise<BroadcastMessage[]> {
  const answered = on === null ? null : await findAnsweredMessage(transaction, organizationId, messageId, on)
  if (answered === null) return listLatestBroadcastMessages(transaction, organizationId, messageId)
  return answered.template === null ? [] : [answered]
}

/** The button as the template spells it, found by its text or its payload. */
function findQuickReply(template: Template, { texts }: Button): string | undefined {
  const buttons = quickReplies(template)
  const found = texts.map((text) => buttons.find((button) => isSame(button, text)))
  return found.find((button) => button !== undefined)
}

function isSame(one: string, other: string): boolean {
  return normalizeText(one).trim() === normalizeText(other).trim()
}
