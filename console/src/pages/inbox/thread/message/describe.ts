import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import { clock } from '../../../../shared/format.js'
import { detailOf, GROUP_CHANGES, notPassedOn, systemLine } from '../../system-line.js'
import type { ThreadMessage } from '../window.js'

type Content = NonNullable<ThreadMessage['content']>
type GroupContent = Extract<Content, { type: 'group' }>
type HandoverContent = Extract<Content, { type: 'handover' }>
type SystemContent = Extract<Content, { type: 'system' }>

const KINDS = ['image', 'video', 'audio', 'document', 'sticker', 'location', 'contacts', 'order', 'poll'] as const

/** A message in one line: its text, or its kind. */
export function useDescribe(): (
  message: Pick<ThreadMessage, 'message' | 'message_type'> & Partial<ThreadMessage>,
) => string {
  const { t } = useTranslation('thread')
  const { t: inInbox } = useTranslation('inbox')
  return ({ message, message_type, changed, content }) => {
    if (changed === 'revoked') return t('revoked')
    if (content?.type === 'group') return describeGroup(t, content) ?? message
    if (content?.type === 'system') {
      const change = describeChange(t, content) ?? systemLine(inInbox, 'system', content.event)
      return change ?? t('changeOf', { what: message || content.event })
    }
    if (content?.type === 'call_permission') return t(permissionOf(content))
    const line = systemLine(inInbox, message_type, detailOf(content))
    if (line !== null)
      return withDetails(content?.type === 'handover' ? describeHandover(t, content, line) : line, content)
    const kind = KINDS.find((name) => name === message_type)
    if (message_type === 'sticker') return t('kinds.sticker')
    if (message !== '' && message !== '[unsupported]') return message
    if (kind) return t(`kinds.${kind}`)
    const named = nameOf(content)
    if (named !== null) return t('unsupportedKind', { kind: notPassedOn(inInbox, named) })
    if (message_type === 'interactive') return t('kinds.reply')
    return message === '' ? t('revoked') : t('unsupported')
  }
}

/** The line of a call with its length, or that of a hand-over with what was said about it. */
function withDetails(line: string, content: ThreadMessage['content'] | undefined): string {
  if (content?.type === 'call' && content.seconds !== null) return `${line}, ${clock(content.seconds)}`
  if (content?.type !== 'handover') return line
  const { note, summary } = content
  return [note === null ? line : `${line}: ${note}`, ...(summary === null ? [] : [summary])].join('\n')
}

const ROLES = ['customer_service', 'marketing', 'utility', 'ctwa', 'escalation'] as const

/** Who took the conversation, or handed it over; `line` if WhatsApp does not say. */
function describeHandover(t: TFunction<'thread'>, content: HandoverContent, line: string): string {
  const { holder, previous_role, new_role } = content
  if (holder === 'us') return previous_role === 'ai_agent' ? t('handover.fromAgent') : line
  if (new_role === 'ai_agent') return t('handover.toAgent')
  const role = ROLES.find((name) => name === new_role)
  return role === undefined ? line : t('handover.toApp', { role: t(`handover.roles.${role}`) })
}

/** A change of the customer in one line; null if the page does not know it, or what is new. */
function describeChange(t: TFunction<'thread'>, { event, current }: SystemContent): string | null {
  const { phone_number: number, user_id: id } = current
  if (event === 'number_changed' && number !== null) return t('newNumber', { number })
  if (event === 'user_id_changed' && id !== null) return t('newUserId', { id })
  return event === 'identity_changed' ? t('newSecurityCode') : null
}

/** Which text says whether the customer may be called. */
export function permissionOf({ response, expires_at: end }: Extract<Content, { type: 'call_permission' }>) {
  if (response === 'reject') return 'mayNotCall'
  if (response !== 'accept') return 'answeredCalls'
  return end !== null && Date.parse(end) <= Date.now() ? 'mayNoLongerCall' : 'mayCall'
}

/** A change of a group in one line; null for a change that this page does not know. */
function describeGroup(t: TFunction<'thread'>, content: GroupContent): string | null {
  const { event, subject, description, people, by } = content
  const known = GROUP_CHANGES.find((name) => name === event)
  if (known === undefined) return null
  const names = people.map(({ name, phone_number, username, user_id }) => name ?? phone_number ?? username ?? user_id)
  const who = names.filter((name) => name !== null).join(', ') || '…'
  const change = known === 'left' && by === 'business' ? 'removed' : known
  return t(`groupChanges.${change}`, { who, subject: subject ?? '', description: description ?? '–' })
}

/** What WhatsApp calls a message that cannot be shown. */
function nameOf(content: ThreadMessage['content'] | undefined): string | null {
  if (content?.type === 'unsupported') return content.kind
  return content?.type === 'other' ? content.name : null
}

/** The name of a message's author. */
export function useAuthor(
  contactName: string,
): (message: Pick<ThreadMessage, 'sender_type'> & Partial<ThreadMessage>) => string {
  const { t } = useTranslation('thread')
  return ({ sender_type, assignee, author, handled_by }) => {
    if (sender_type === 'user-chat') return author?.name ?? author?.phone_number ?? author?.user_id ?? contactName
    if (sender_type === 'bot-chat') return handled_by ? t('upstreamAgent') : t('bot')
    return sender_type === 'human-chat' ? (assignee?.full_name ?? t('team')) : t('system')
  }
}
