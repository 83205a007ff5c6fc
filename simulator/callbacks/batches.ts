import type { CallbackEnvelope, Change, Entry, MessageStatus, MessagesValue } from '../../src/upstream/wire.js'
import { type BusinessNumber, metadataOf } from '../numbers/business-numbers.js'

/** The content of one callback: a status, a whole change, or a complete body. */
export type CallbackContent =
  | { kind: 'status'; status: MessageStatus }
  | { kind: 'change'; change: Change }
  | { kind: 'body'; bytes: string }

/** A callback that can share a body with others. */
export interface BatchItem {
  number: BusinessNumber
  content: Exclude<CallbackContent, { kind: 'body' }>
}

interface OpenEntry {
  entry: Entry
  /** The statuses of the entry's last change; null if its last change has none. */
  openStatuses: MessageStatus[] | null
}

/**
 * Builds one body for several callbacks: an entry per business number, with consecutive statuses of a number in one
 * change.
 */
export function envelopeOf(items: BatchItem[]): CallbackEnvelope {
  const entries = new Map<string, OpenEntry>()
  for (const { number, content } of items) {
    const open = entries.get(number.phone_number_id) ?? openEntry(number)
    entries.set(number.phone_number_id, open)
    if (content.kind === 'status') addStatus(open, number, content.status)
    else addChange(open, content.change)
  }
  return envelope(Array.from(entries.values(), (open) => open.entry))
}

/** The outermost object of every callback. */
export function envelope(entry: Entry[]): CallbackEnvelope {
  return { object: 'whatsapp_business_account', entry }
}

function openEntry(number: BusinessNumber): OpenEntry {
  return { entry: { id: number.business_account_id, changes: [] }, openStatuses: null }
}

function addStatus(open: OpenEntry, number: BusinessNumber, status: MessageStatus): void {
  if (open.openStatuses) {
    open.openStatuses.push(status)
    return
  }
  open.openStatuses = [status]
  const value: MessagesValue = {
    messaging_product: 'whatsapp',
    metadata: metadataOf(number),
    statuses: open.openStatuses,
  }
  open.entry.changes.push({ value, field: 'messages' })
}

function addChange(open: OpenEntry, change: Change): void {
  open.entry.changes.push(change)
  open.openStatuses = null
}
