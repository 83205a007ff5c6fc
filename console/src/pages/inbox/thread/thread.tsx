import { Center, EmptyState } from '@mantine/core'
import { modals } from '@mantine/modals'
import { IconMessageCircle } from '@tabler/icons-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { InboxContact, ReplyChannel } from '../../../../../src/model/conversations/inbox.js'
import { api } from '../../../api/client.js'
import { Loading } from '../../../layout/loading.js'
import { useMay, useSession } from '../../../session/session.js'
import { newKey } from '../../../shared/new-key.js'
import { LoadProblem, notifyError } from '../../../shared/problem.js'
import { Composer, type ComposerHandle } from '../composer/composer.js'
import type { NumberChoices } from '../composer/number-choice.js'
import { drop, retry, send, unconfirmed, usePendingSends } from '../composer/pending-sends.js'
import { chatRequest, type Route, repeatFields, repeatKey } from '../composer/requests.js'
import { nameOf } from '../contact/contact-name.js'
import { wishOf } from '../contact/wish.js'
import { type ThreadActions, ThreadActionsProvider } from './actions.js'
import { isHeldByOther } from './holder.js'
import { Announcer } from './list/announcer.js'
import { toEntries } from './list/entries.js'
import { type ListHandle, MessageList } from './list/message-list.js'
import { useNewCount } from './list/use-new-count.js'
import { useReadMark } from './list/use-read-mark.js'
import { MessageInfo } from './message/message-info.js'
import { NoteCard } from './message/note-card.js'
import classes from './thread.module.css'
import { useAddressedMessage } from './use-addressed-message.js'
import { useConfirmedSends } from './use-confirmed-sends.js'
import { type ThreadStore, useThread } from './use-thread.js'
import { isAtEnd, isLoaded, type Note, type ThreadMessage } from './window.js'

interface ThreadProps {
  contact: InboxContact
  channel: ReplyChannel | undefined
  choices: NumberChoices
}

/** The messages of a conversation, with the composer below. */
export function Thread(props: ThreadProps) {
  // The state belongs to one contact.
  return <ContactThread key={props.contact.id} {...props} />
}

function ContactThread({ contact, channel, choices }: ThreadProps) {
  const { t } = useTranslation('thread')
  const { member } = useSession()
  const isOwner = useMay('owner')
  const mayWrite = useMay('agent')
  const addressed = useAddressedMessage()
  const store = useThread(contact.id, addressed.seq)
  const pendingSends = usePendingSends(contact.id)
  const list = useRef<ListHandle>(null)
  const composer = useRef<ComposerHandle>(null)
  const [info, setInfo] = useState<ThreadMessage | null>(null)
  const [isAtBottom, setAtBottom] = useState(false)
  const { window } = store
  useConfirmedSends(pendingSends, store)

  const hasEnd = window !== undefined && isAtEnd(window)
  const isSeen = hasEnd && isAtBottom && hasArrived(store)
  const newCount = useNewCount(window?.last_seq, isSeen)
  useReadMark(contact, window, isSeen && mayWrite)

  const isReady = window !== undefined
  useEffect(() => {
    if (isReady && addressed.seq !== null) list.current?.goTo(addressed.seq)
  }, [isReady, addressed])

  const entries = useMemo(
    () => (window ? toEntries(window, hasEnd ? unconfirmed(pendingSends, window.messages) : [], wishOf(contact)) : []),
    [window, hasEnd, pendingSends, contact],
  )
  const contactName = nameOf(contact)
  const lastSeq = window?.last_seq ?? contact.last_seq
  const route: Route = { contact, channel, me: member, lastSeq, replyTo: null }

  const newestRoute = useRef(route)
  useEffect(() => {
    newestRoute.current = route
  })
  const channelName = channel?.instance ?? null
  // Stays the same while nothing in it changes: a new object would render every message again.
  const actions = useMemo<ThreadActions>(
    () => ({
      mayWrite,
      channelName,
      contactName,
      reply: (message) => composer.current?.reply(message),
      react: (message, emoji) => void react(newestRoute.current, message, emoji),
      sendAgain: (message) => {
        if (sendAgain(newestRoute.current, message)) list.current?.goToNewest()
      },
      chooseTemplate: () => composer.current?.chooseTemplate(),
      showInfo: setInfo,
      goTo: (seq) => list.current?.goTo(seq),
      retry,
      drop,
      mayDelete: (note) => isOwner || note.member_id === member.id,
      deleteNote: (note) => askToDelete(note, t),
    }),
    [mayWrite, channelName, contactName, isOwner, member.id, t],
  )
  return (
    <ThreadActionsProvider value={actions}>
      <section className={classes.thread} aria-label={t('conversationWith', { name: contactName })}>
        <Announcer window={window} contactName={contactName} />
        {window === undefined && (store.error ? <LoadProblem error={store.error} retry={store.retry} /> : <Loading />)}
        {window !== undefined && entries.length > 0 && (
          <MessageList entries={entries} store={store} newCount={newCount} onAtBottom={setAtBottom} ref={list} />
        )}
        {window !== undefined && entries.length === 0 && <Nothing notes={window.notes} />}
        <Composer
          contact={contact}
          channel={channel}
          choices={choices}
          lastSeq={lastSeq}
          lastInboundAt={
            choices.isChosen ? (choices.number?.last_inbound_at ?? null) : newestInbound(contact, window?.messages)
          }
          isHeldByOther={hasEnd && isHeldByOther(window.messages, new Date())}
          onSent={() => list.current?.goToNewest()}
          ref={composer}
        />
      </section>
      <MessageInfo message={info} contactName={contactName} onClose={() => setInfo(null)} />
    </ThreadActionsProvider>
  )
}

function Nothing({ notes }: { notes: Note[] }) {
  const { t } = useTranslation('thread')
  return (
    <Center flex={1} mih={0} className={classes.nothing}>
      <div>
        {notes.map((note) => (
          <NoteCard key={note.id} note={note} />
        ))}
        <EmptyState
          icon={<IconMessageCircle aria-hidden />}
          title={t('empty')}
          description={t('emptyHint')}
          withIndicatorBackground
        />
      </div>
    </Center>
  )
}

/** Whether the message that the reader jumped to is on the screen. */
function hasArrived({ window, target, generation }: ThreadStore): boolean {
  return target === null || generation > 0 || (window !== undefined && isLoaded(window, target))
}

/** The time of the customer's newest message, by the contact or by the messages that arrived later. */
function newestInbound({ last_inbound_at }: InboxContact, messages: ThreadMessage[] = []): string | null {
  const newest = messages.findLast(({ sender_type }) => sender_type === 'user-chat')?.created_at ?? null
  if (newest === null || (last_inbound_at !== null && last_inbound_at > newest)) return last_inbound_at
  return newest
}

/** Sends a failed message again. False if its content is not available. */
function sendAgain(route: Route, failed: ThreadMessage): boolean {
  const fields = repeatFields(failed)
  if (!fields) return false
  const { message_type, message, content, media_type } = failed
  send(chatRequest(route, fields, { message_type, message, content, media_type }), repeatKey(failed))
  return true
}

async function react(route: Route, message: ThreadMessage, emoji: string): Promise<void> {
  const fields = { reaction: { message_id: message.id, emoji } }
  try {
    // The reaction shows when its live event arrives.
    await chatRequest(route, fields, { message_type: 'reaction' }).post(newKey())
  } catch (error) {
    notifyError(error)
  }
}

function askToDelete(note: Note, t: ReturnType<typeof useTranslation<'thread'>>['t']): void {
  modals.openConfirmModal({
    title: t('deleteNote'),
    children: t('deleteNoteSure'),
    labels: { confirm: t('delete', { ns: 'common' }), cancel: t('cancel', { ns: 'common' }) },
    confirmProps: { color: 'red' },
    onConfirm: () => void api.delete(`/notes/${note.id}`).catch(notifyError),
  })
}
