import { useTranslation } from 'react-i18next'
import { clock } from '../../../../shared/format.js'
import { detailOf, systemLine } from '../../system-line.js'
import type { ThreadMessage } from '../window.js'

const KINDS = ['image', 'video', 'audio', 'document', 'sticker', 'location', 'contacts', 'order', 'poll'] as const

/** A message in one line: its text, or its kind. */
export function useDescribe(): (
  message: Pick<ThreadMessage, 'message' | 'message_type'> & Partial<ThreadMessage>,
) => string {
  const { t } = useTranslation('thread')
  const { t: inInbox } = useTranslation('inbox')
  return ({ message, message_type, changed, content }) => {
    if (changed === 'revoked') return t('revoked')
    const line = systemLine(inInbox, message_type, detailOf(content))
    if (line !== null) return withDetails(line, content)
    const kind = KINDS.find((name) => name === message_type)
    if (message_type === 'sticker') return t('kinds.sticker')
    if (message_type === 'request_welcome') return t('opened')
    if (message !== '' && message !== '[unsupported]') return message
    if (kind) return t(`kinds.${kind}`)
    const named = nameOf(content)
    if (named !== null) return t('unsupportedKind', { kind: named })
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
