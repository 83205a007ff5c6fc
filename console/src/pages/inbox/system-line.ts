import type { TFunction } from 'i18next'
import type { ShownContent } from '../../../../src/model/messages/shown/schemas.js'

const OUTCOMES = ['missed', 'answered', 'rejected', 'failed'] as const
const HOLDERS = ['us', 'other'] as const
/** What may change about a person. */
const CHANGES = ['number_changed', 'user_id_changed', 'identity_changed'] as const
const PERMISSIONS = ['accept', 'reject'] as const
/** What WhatsApp does not pass on, in its words. */
const NOT_PASSED_ON = ['edit', 'poll_creation', 'poll_update', 'button', 'pin', 'interactive'] as const
/** What may happen to a group. */
export const GROUP_CHANGES = [
  ...(['created', 'deleted', 'renamed', 'described', 'picture_changed', 'suspended', 'resumed'] as const),
  ...(['joined', 'left', 'join_requested', 'join_request_revoked', 'promoted', 'demoted'] as const),
] as const

/**
 * What a call, a hand-over, a change of a person or a group, or the answer to a request to call came to: the outcome, who
 * answers now, or what happened; of a message that is not passed on, what it was. Null for other messages.
 */
export function detailOf(content: ShownContent | null | undefined): string | null {
  switch (content?.type) {
    case 'call':
      return content.outcome
    case 'group':
    case 'system':
      return content.event
    case 'handover':
      return content.holder
    case 'call_permission':
      return content.response
    case 'unsupported':
      return content.kind
    default:
      return null
  }
}

/** The kinds of message that `systemLine` knows, and what it says of a detail. */
const LINES: Record<string, (t: TFunction<'inbox'>, detail: string | null) => string | null> = {
  call: (t, detail) => sayOne(OUTCOMES, detail, (one) => t(`calls.${one}`)),
  group: (t, detail) => sayOne(GROUP_CHANGES, detail, (one) => t(`groups.${one}`)),
  handover: (t, detail) => sayOne(HOLDERS, detail, (one) => t(`handovers.${one}`)),
  system: (t, detail) => sayOne(CHANGES, detail, (one) => t(`changes.${one}`)),
  interactive: (t, detail) => sayOne(PERMISSIONS, detail, (one) => t(`callPermissions.${one}`)),
  request_welcome: (t) => t('opened'),
  media_placeholder: (t) => t('fileNotPassedOn'),
  unsupported: sayNotPassedOn,
  unknown: sayNotPassedOn,
}

/**
 * A message that has no words of its own in one short line, in the page's language: a call, a hand-over, a change of a
 * person or a group, what WhatsApp does not pass on. Null for other messages, or if the detail is not known.
 */
export function systemLine(t: TFunction<'inbox'>, messageType: string, detail: string | null): string | null {
  return (Object.hasOwn(LINES, messageType) && LINES[messageType]?.(t, detail)) || null
}

/** What a message was that WhatsApp does not pass on: its name in the page's language, or WhatsApp's word for it. */
export function notPassedOn(t: TFunction<'inbox'>, kind: string): string {
  return sayOne(NOT_PASSED_ON, kind, (one) => t(`notPassedOn.${one}`)) ?? kind
}

function sayNotPassedOn(t: TFunction<'inbox'>, detail: string | null): string {
  return detail === null ? t('notShown') : t('notShownKind', { kind: notPassedOn(t, detail) })
}

function sayOne<Name extends string>(
  names: readonly Name[],
  detail: string | null,
  say: (name: Name) => string,
): string | null {
  const known = names.find((name) => name === detail)
  return known === undefined ? null : say(known)
}
