import { Group, Text, Timeline } from '@mantine/core'
import {
  IconAlertTriangle,
  IconArrowBackUp,
  IconBell,
  IconBroadcast,
  IconClockPause,
  IconDatabase,
  IconDownload,
  IconMessageReply,
  IconPencil,
  IconPlayerPlay,
  IconRepeat,
  IconSend,
  IconWebhook,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import { useTranslation } from 'react-i18next'
import type { TraceEntry, TraceKind } from '../../../../src/model/messages/trace.js'
import { useFormat } from '../../shared/format.js'
import { detailsOf, durationText, headingOf, resultOf } from './describe.js'
import classes from './trace.module.css'

const ICONS: Record<TraceKind, ComponentType<{ size?: number; 'aria-hidden'?: boolean }>> = {
  requested: IconPlayerPlay,
  answer_repeated: IconRepeat,
  failure_answered: IconAlertTriangle,
  waited: IconClockPause,
  recorded: IconDatabase,
  called: IconSend,
  put_back: IconArrowBackUp,
  resumed: IconRepeat,
  unanswered: IconAlertTriangle,
  given_up: IconAlertTriangle,
  callback_received: IconBroadcast,
  file_fetched: IconDownload,
  status_changed: IconBroadcast,
  event_raised: IconBell,
  delivery_created: IconWebhook,
  delivery_attempted: IconWebhook,
  changed: IconPencil,
  answered: IconMessageReply,
}
const COLORS = { good: 'teal', bad: 'red' } as const

/** The entries of a trace, on one line of time. */
export function TraceTimeline({ entries }: { entries: readonly TraceEntry[] }) {
  const { t } = useTranslation('trace')
  const format = useFormat()
  return (
    <Timeline active={entries.length} bulletSize={26} lineWidth={2} role="list" aria-label={t('timeline')}>
      {entries.map((entry, index) => {
        const Icon = ICONS[entry.kind]
        const result = resultOf(entry)
        const previous = entries[index - 1]
        const isNewDay = previous === undefined || format.date(previous.at) !== format.date(entry.at)
        return (
          <Timeline.Item
            role="listitem"
            // Entries of a trace are only added, and may be alike.
            // biome-ignore lint/suspicious/noArrayIndexKey: they have no ids
            key={index}
            color={result === null ? 'gray' : COLORS[result]}
            bullet={<Icon aria-hidden size={14} />}
            title={headingOf(entry, t)}
            data-result={result ?? undefined}
          >
            <Group gap="xs" className={classes.times}>
              <time dateTime={entry.at}>
                {isNewDay ? `${format.date(entry.at)}, ${format.exactTime(entry.at)}` : format.exactTime(entry.at)}
              </time>
              {entry.duration_ms !== undefined && (
                <span>
                  {t(entry.kind === 'callback_received' ? 'processed' : 'took', {
                    duration: durationText(entry.duration_ms, t, format),
                  })}
                </span>
              )}
            </Group>
            {detailsOf(entry, t, format).map(([label, value]) => (
              <Text key={label} size="sm" className={classes.detail}>
                <span className={classes.label}>{label}:</span> <span>{value}</span>
              </Text>
            ))}
          </Timeline.Item>
        )
      })}
    </Timeline>
  )
}
