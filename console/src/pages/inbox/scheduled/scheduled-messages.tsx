import { ActionIcon, Group, ScrollArea, Text, Textarea, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { modals } from '@mantine/modals'
import { IconChevronDown, IconChevronUp, IconClock, IconPencil, IconTrash } from '@tabler/icons-react'
import { Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import { useMay } from '../../../session/session.js'
import { useFormat } from '../../../shared/format.js'
import { notifyError } from '../../../shared/problem.js'
import { LaterDialog } from './later.js'
import classes from './scheduled.module.css'
import { type Scheduled, useScheduled } from './use-scheduled.js'

/** The messages of a conversation that are to be sent later, with what can be done about them; nothing without any. */
export function ScheduledMessages({ contactId }: { contactId: string }) {
  const { t } = useTranslation('thread')
  const { scheduled, total } = useScheduled(contactId)
  const [isOpen, { toggle }] = useDisclosure(false)
  const [changed, setChanged] = useState<Scheduled | null>(null)
  if (scheduled.length === 0) return null
  const needsSomebody = scheduled.some(({ status }) => status === 'paused')
  const Chevron = isOpen ? IconChevronDown : IconChevronUp
  return (
    <section className={classes.box} data-tone={needsSomebody ? 'warning' : undefined} aria-label={t('later.list')}>
      <UnstyledButton className={classes.head} onClick={toggle} aria-expanded={isOpen}>
        <IconClock aria-hidden size={18} stroke={1.7} />
        <Text size="sm" flex={1}>
          {t('later.waiting', { count: total })}
        </Text>
        <Chevron aria-hidden size={18} stroke={1.7} />
      </UnstyledButton>
      {isOpen && (
        <ScrollArea.Autosize mah={220}>
          <ul className={classes.list}>
            {scheduled.map((one) => (
              <Item key={one.id} scheduled={one} onChange={() => setChanged(one)} />
            ))}
          </ul>
        </ScrollArea.Autosize>
      )}
      {changed && (
        <Suspense>
          <ChangeDialog scheduled={changed} onClose={() => setChanged(null)} />
        </Suspense>
      )}
    </section>
  )
}

function Item({ scheduled, onChange }: { scheduled: Scheduled; onChange: () => void }) {
  const { t } = useTranslation('thread')
  const { dateTime } = useFormat()
  const mayWrite = useMay('agent')
  const { id, scheduled_at, status, reason, error, message, media_type, message_type } = scheduled
  const askToCancel = () =>
    modals.openConfirmModal({
      title: t('later.cancel'),
      children: t('later.cancelSure'),
      labels: { confirm: t('later.cancel'), cancel: t('cancel', { ns: 'common' }) },
      confirmProps: { color: 'red' },
      onConfirm: () => void api.delete(`/scheduled/${id}`).catch(notifyError),
    })
  return (
    <li className={classes.item}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <div className={classes.what}>
          <Text size="xs" component="time" dateTime={scheduled_at} className={classes.when}>
            {dateTime(scheduled_at)}
          </Text>
          <Text size="sm" lineClamp={2}>
            {message || kindOf(media_type ?? message_type, t)}
          </Text>
          {status === 'paused' && reason !== null && (
            <Text size="xs">{t(reason === 'late' ? 'later.late' : 'later.restored')}</Text>
          )}
          {status === 'sending' && <Text size="xs">{t('later.sending')}</Text>}
          {error !== null && <Text size="xs">{error.text}</Text>}
        </div>
        {mayWrite && status !== 'sending' && (
          <>
            <ActionIcon variant="subtle" color="gray" onClick={onChange} aria-label={t('later.change')}>
              <IconPencil aria-hidden size={18} stroke={1.6} />
            </ActionIcon>
            <ActionIcon variant="subtle" color="red" onClick={askToCancel} aria-label={t('later.cancel')}>
              <IconTrash aria-hidden size={18} stroke={1.6} />
            </ActionIcon>
          </>
        )}
      </Group>
    </li>
  )
}

type Translate = ReturnType<typeof useTranslation<'thread'>>['t']

/** What a message without a text is. */
function kindOf(kind: string, t: Translate): string {
  switch (kind) {
    case 'image':
    case 'video':
    case 'audio':
    case 'document':
    case 'location':
    case 'contacts':
      return t(`kinds.${kind}`)
    default:
      return kind
  }
}

/** Changes the time of a message, and its text if it is nothing else. */
function ChangeDialog({ scheduled, onClose }: { scheduled: Scheduled; onClose: () => void }) {
  const { t } = useTranslation('thread')
  const { id, message_type, message, status, scheduled_at } = scheduled
  const [text, setText] = useState(message)
  const isText = message_type === 'text'
  const change = async (at: string, _key: string, isInitial: boolean) => {
    const isChanged = isText && text.trim() !== '' && text !== message
    if (isInitial && !isChanged) return true
    try {
      const changes = { ...(!isInitial && { scheduled_at: at }), ...(isChanged && { text: text.trim() }) }
      await api.patch(`/scheduled/${id}`, changes)
      return true
    } catch (error) {
      notifyError(error)
      return false
    }
  }
  return (
    <LaterDialog
      title={t('later.change')}
      initial={status === 'paused' ? null : scheduled_at}
      onSchedule={change}
      onClose={onClose}
    >
      {isText && (
        <Textarea
          label={t('messageField')}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          autosize
          maxRows={8}
        />
      )}
    </LaterDialog>
  )
}
