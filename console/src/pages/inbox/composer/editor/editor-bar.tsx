import { ActionIcon, Group, Text, Tooltip } from '@mantine/core'
import { IconClock, IconNote, IconSend2 } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import classes from '../composer.module.css'
import type { Writing } from './use-writing.js'

/** Remaining characters at which the counter appears. */
const TOLD_AT = 200

/** Below the field: attachments and other kinds, the counter, and the send button. */
export function EditorBar({
  writing,
  isNote,
  onToggleNote,
  onLater,
  tools,
  windowLeft,
}: {
  writing: Writing
  isNote: boolean
  onToggleNote: () => void
  onLater: () => void
  tools: ReactNode
  windowLeft: ReactNode
}) {
  const { t } = useTranslation('thread')
  const { left, maySend, isBusy, submit } = writing
  return (
    <Group gap={4} wrap="nowrap" className={classes.tools}>
      {isNote ? (
        <Text size="xs" px={6} className={classes.noteHint}>
          {t('noteHint')}
        </Text>
      ) : (
        tools
      )}
      <Group gap={4} ml="auto" wrap="nowrap">
        {left < TOLD_AT && (
          <Text size="xs" role="status" className={classes.count} data-over={left < 0 || undefined}>
            {left}
          </Text>
        )}
        {!isNote && windowLeft}
        <Tooltip label={t('noteSwitch')}>
          <ActionIcon
            size={34}
            variant={isNote ? 'filled' : 'subtle'}
            color={isNote ? 'yellow.9' : 'gray'}
            aria-pressed={isNote}
            onClick={onToggleNote}
            aria-label={t('noteSwitch')}
          >
            <IconNote aria-hidden size={20} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
        {!isNote && (
          <Tooltip label={t('later.send')}>
            <ActionIcon
              size={34}
              variant="subtle"
              color="gray"
              onClick={onLater}
              disabled={!maySend}
              aria-label={t('later.send')}
            >
              <IconClock aria-hidden size={20} stroke={1.6} />
            </ActionIcon>
          </Tooltip>
        )}
        <ActionIcon
          size={34}
          color={isNote ? 'yellow.9' : undefined}
          onClick={submit}
          disabled={!maySend}
          loading={isBusy}
          aria-label={isNote ? t('saveNote') : t('send')}
        >
          <IconSend2 aria-hidden size={20} stroke={1.7} />
        </ActionIcon>
      </Group>
    </Group>
  )
}
