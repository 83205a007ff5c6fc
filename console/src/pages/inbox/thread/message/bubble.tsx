import { Badge, Button, Group, Text, VisuallyHidden } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../../shared/format.js'
import { useThreadActions } from '../actions.js'
import type { Entry } from '../list/entries.js'
import type { ThreadMessage } from '../window.js'
import classes from './bubble.module.css'
import { useAuthor, useDescribe } from './describe.js'
import { Failure } from './failure.js'
import { Body } from './kinds/body.js'
import { MessageMenu } from './message-menu.js'
import { Quote } from './quote.js'
import { Reactions } from './reactions.js'
import { stateOf } from './state.js'
import { Ticks } from './ticks.js'

/** A message. It can be focused; Enter opens its menu. */
export function Bubble({ entry, isFocusable, isMarked }: { entry: Entry; isFocusable: boolean; isMarked: boolean }) {
  const { t } = useTranslation('thread')
  const { message, pending, seq } = entry
  const [isMenuOpen, setMenuOpen] = useState(false)
  const isOurs = message.sender_type !== 'user-chat'
  if (message.sender_type === 'system' || message.message_type === 'system') return <SystemNotice message={message} />
  return (
    <article
      id={`message-${seq}`}
      tabIndex={isFocusable ? 0 : -1}
      aria-labelledby={`label-${seq}`}
      className={classes.row}
      data-side={isOurs ? 'ours' : 'theirs'}
      data-continues={entry.continues || undefined}
      data-marked={isMarked || undefined}
      onKeyDown={(event) => {
        const opens = event.key === 'Enter' || event.key === ' ' || event.key === 'ContextMenu'
        if (event.target !== event.currentTarget || !opens || pending) return
        event.preventDefault()
        setMenuOpen(true)
      }}
    >
      <Label entry={entry} />
      <div className={classes.column}>
        <div
          className={classes.bubble}
          data-bare={(message.message_type === 'sticker' && message.changed !== 'revoked') || undefined}
          data-tail={!entry.isContinued || undefined}
          data-failed={message.message_status === 'failed' || undefined}
        >
          <Author entry={entry} />
          {message.context && <Quote quoted={message.context} />}
          <Body message={message} />
          <Meta message={message} isOurs={isOurs} />
          {!pending && <MessageMenu message={message} opened={isMenuOpen} onChange={setMenuOpen} />}
        </div>
        <Reactions message={message} />
        {message.handled_by && !isOurs && !entry.isContinued && (
          <Text size="xs" px={6} className={classes.handled}>
            {t('answeredByAgent')}
          </Text>
        )}
        {isOurs && stateOf(message) === 'held' && (
          <Text size="xs" px={6} className={classes.handled}>
            {t('heldHint')}
          </Text>
        )}
        {message.message_status === 'failed' && isOurs && <Failure message={message} />}
        {pending?.state === 'failed' && <Unsent entry={entry} />}
      </div>
    </article>
  )
}

/** The message's label for screen readers. */
function Label({ entry: { seq, message } }: { entry: Entry }) {
  const { contactName } = useThreadActions()
  const author = useAuthor(contactName)
  const describe = useDescribe()
  const format = useFormat()
  return (
    <VisuallyHidden id={`label-${seq}`}>
      {author(message)}, {format.time(message.created_at)}: {describe(message)}
    </VisuallyHidden>
  )
}

/** The author if it is a member or bot, and the channel if it is not the usual one. */
function Author({ entry: { message, continues } }: { entry: Entry }) {
  const { channelName, contactName } = useThreadActions()
  const author = useAuthor(contactName)
  const isOurs = message.sender_type !== 'user-chat'
  const channel = message.instance !== channelName ? message.instance : null
  const isNamed = isOurs || message.author !== undefined
  if ((continues && !message.author) || (!isNamed && channel === null)) return null
  return (
    <Group gap={6} wrap="nowrap" px={4}>
      {isNamed && (
        <Text size="xs" fw={600} truncate className={classes.author}>
          {author(message)}
        </Text>
      )}
      {channel !== null && (
        <Badge size="xs" variant="outline" color="gray" className={classes.channel}>
          {channel}
        </Badge>
      )}
    </Group>
  )
}

function Meta({ message, isOurs }: { message: ThreadMessage; isOurs: boolean }) {
  const { t } = useTranslation('thread')
  const format = useFormat()
  return (
    <span className={classes.meta}>
      {message.changed === 'edited' && <span>{t('edited')}</span>}
      <time dateTime={message.created_at} title={format.dateTime(message.created_at)}>
        {format.time(message.created_at)}
      </time>
      {isOurs && <Ticks message={message} />}
    </span>
  )
}

/** Reason and actions of a message that failed before it was recorded. */
function Unsent({ entry: { pending } }: { entry: Entry }) {
  const { t } = useTranslation('thread')
  const { mayWrite, retry, drop } = useThreadActions()
  if (!pending) return null
  return (
    <div className={classes.failure} role="alert">
      <Text size="xs" className={classes.failureText}>
        {t('notSent')} {pending.result.problem}
      </Text>
      {mayWrite && (
        <Group gap={6} mt={4}>
          <Button size="compact-xs" variant="default" onClick={() => retry(pending)}>
            {t('retry', { ns: 'common' })}
          </Button>
          <Button size="compact-xs" variant="subtle" color="gray" onClick={() => drop(pending)}>
            {t('discard')}
          </Button>
        </Group>
      )}
    </div>
  )
}

function SystemNotice({ message }: { message: ThreadMessage }) {
  const describe = useDescribe()
  return <p className={classes.pill}>{describe(message)}</p>
}
