import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconBan, IconEye, IconLock, IconPlugConnectedX, IconRobot, IconUsersGroup } from '@tabler/icons-react'
import { lazy, type Ref, Suspense, useImperativeHandle, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import type { InboxContact, ReplyChannel, ThreadMessage } from '../../../../../src/model/conversations/inbox.js'
import { useMay, useSession } from '../../../session/session.js'
import { useContactActions } from '../contact/use-actions.js'
import { ScheduledMessages } from '../scheduled/scheduled-messages.js'
import classes from './composer.module.css'
import { useDraft } from './drafts.js'
import { Editor, type EditorHandle } from './editor/editor.js'
import { Notice } from './notice.js'
import { NumberChoice, type NumberChoices } from './number-choice.js'
import { type SendRequest, send } from './pending-sends.js'
import type { Route } from './requests.js'
import { useReplyWindow } from './use-reply-window.js'

/** Duration of a menu's closing transition. */
const MENU_MS = 60

// Loaded on demand, since few messages are templates.
const TemplateDialog = lazy(() => import('./dialogs/template-dialog.js'))
// Used in the sandbox only.
const PlayCustomer = lazy(() => import('./play-customer.js'))

/** Imperative methods of the composer. */
export interface ComposerHandle {
  reply: (message: ThreadMessage) => void
  chooseTemplate: () => void
}

/** The editor of a conversation, or the reason why the member cannot reply. */
export function Composer({
  contact,
  channel,
  choices,
  lastSeq,
  lastInboundAt,
  isHeldByOther,
  onSent,
  ref,
}: {
  contact: InboxContact
  channel: ReplyChannel | undefined
  choices: NumberChoices
  lastSeq: number
  lastInboundAt: string | null
  /** Whether another app answers the customer. */
  isHeldByOther: boolean
  onSent: () => void
  ref: Ref<ComposerHandle>
}) {
  const { t } = useTranslation('thread')
  const { member, simulator } = useSession()
  const mayWrite = useMay('agent')
  const editor = useRef<EditorHandle>(null)
  const [draft, changeDraft] = useDraft(contact.id)
  const [isChoosing, templates] = useDisclosure(false)
  const window = useReplyWindow(channel, lastInboundAt)
  useImperativeHandle(ref, () => ({
    reply: (message) => {
      changeDraft({ replyTo: message, isNote: false })
      // Focus the field after the menu has returned the focus to its button.
      setTimeout(() => editor.current?.focus(), MENU_MS)
    },
    chooseTemplate: templates.open,
  }))

  if (!mayWrite) {
    return (
      <div className={classes.composer}>
        <ScheduledMessages contactId={contact.id} />
        <Notice icon={IconEye}>{t('readOnly')}</Notice>
      </div>
    )
  }
  const route: Route = { contact, channel, me: member, lastSeq, replyTo: draft.replyTo }
  const sendNow = (request: SendRequest) => {
    send(request)
    onSent()
  }
  const closed = closedBy(
    contact,
    channel,
    window?.isOpen === false ? (lastInboundAt === null ? 'never' : 'window') : null,
  )
  return (
    <div className={classes.composer}>
      {simulator && contact.phone_number !== null && (
        <Suspense>
          <PlayCustomer key={contact.id} contact={contact} />
        </Suspense>
      )}
      <ScheduledMessages contactId={contact.id} />
      {closed === null ? (
        !draft.isNote && <Answering isHeldByOther={isHeldByOther} isBotActive={contact.bot_status === 'active'} />
      ) : (
        <Closed reason={closed} contact={contact} onTemplate={templates.open} />
      )}
      <NumberChoice choices={choices} channel={channel} />
      <Editor
        route={route}
        draft={draft}
        onDraft={changeDraft}
        isClosed={closed !== null || channel === undefined}
        window={window}
        onSend={sendNow}
        onNote={onSent}
        onTemplate={hasTemplates(channel) ? templates.open : null}
        ref={editor}
      />
      {isChoosing && (
        <Suspense>
          <TemplateDialog route={route} onSend={sendNow} onClose={templates.close} />
        </Suspense>
      )}
    </div>
  )
}

/** Warns if somebody else answers the customer, so that nobody does it twice. */
function Answering({ isHeldByOther, isBotActive }: { isHeldByOther: boolean; isBotActive: boolean }) {
  const { t } = useTranslation('thread')
  if (isHeldByOther) {
    return (
      <Notice icon={IconRobot} tone="warning">
        {t('heldByOther')}
      </Notice>
    )
  }
  return isBotActive && <Notice icon={IconRobot}>{t('botActive')}</Notice>
}

type Closed = 'blocked' | 'group_deleted' | 'group_suspended' | 'no_channel' | 'not_ready' | ClosedWindow

/** The 24-hour window has closed, or never opened. */
type ClosedWindow = 'window' | 'never'

function closedBy(
  contact: InboxContact,
  channel: ReplyChannel | undefined,
  closedWindow: ClosedWindow | null,
): Closed | null {
  if (contact.blocked) return 'blocked'
  if (contact.group?.deleted_at) return 'group_deleted'
  if (contact.group?.suspended) return 'group_suspended'
  if (channel === undefined) return null
  if (channel.kind === null) return 'no_channel'
  if (!channel.is_ready) return 'not_ready'
  return closedWindow
}

/** Templates exist for business numbers only. */
function hasTemplates(channel: ReplyChannel | undefined): boolean {
  return channel?.kind === 'business_api' && channel.is_ready
}

function Closed({ reason, contact, onTemplate }: { reason: Closed; contact: InboxContact; onTemplate: () => void }) {
  const { t } = useTranslation('thread')
  const isOwner = useMay('owner')
  const { toggleBlocked } = useContactActions(contact)
  const settings = isOwner && (
    <Button
      component={Link}
      to={reason === 'no_channel' ? '/settings/number' : '/settings/instances'}
      size="compact-sm"
      variant="default"
    >
      {t('toSettings')}
    </Button>
  )
  switch (reason) {
    case 'blocked':
      return (
        <Notice
          icon={IconBan}
          tone="warning"
          action={
            <Button size="compact-sm" variant="default" onClick={toggleBlocked}>
              {t('unblock')}
            </Button>
          }
        >
          {t('blocked')}
        </Notice>
      )
    case 'group_deleted':
    case 'group_suspended':
      return (
        <Notice icon={IconUsersGroup} tone="warning">
          {t(reason === 'group_deleted' ? 'groupDeleted' : 'groupSuspended')}
        </Notice>
      )
    case 'no_channel':
    case 'not_ready':
      return (
        <Notice icon={IconPlugConnectedX} tone="warning" action={settings}>
          {reason === 'not_ready' ? t('channelNotReady') : t(isOwner ? 'noChannel' : 'noChannelAsk')}
        </Notice>
      )
    case 'window':
    case 'never':
      return (
        <Notice
          icon={IconLock}
          tone="warning"
          action={
            <Button size="compact-sm" onClick={onTemplate}>
              {t('sendTemplate')}
            </Button>
          }
        >
          {t(reason === 'window' ? 'windowClosed' : 'windowNever')}
        </Notice>
      )
  }
}
