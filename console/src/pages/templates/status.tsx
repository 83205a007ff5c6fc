import { Badge, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../shared/format.js'
import type { Template } from './types.js'
import { known, QUALITIES, REASONS, STATUSES } from './words.js'

const COLORS: Record<string, string> = {
  APPROVED: 'teal',
  PENDING: 'blue',
  IN_APPEAL: 'blue',
  REJECTED: 'red',
  DISABLED: 'red',
  PAUSED: 'orange',
}

/** The status of a template, why it was rejected, and until when it is paused. */
export function TemplateStatus({ template }: { template: Template }) {
  const { t } = useTranslation('templates')
  const { dateTime } = useFormat()
  const { status, rejected_reason: reason, paused_until: until } = template
  const word = known(STATUSES, status)
  const cause = reason === null ? undefined : known(REASONS, reason)
  return (
    <Stack gap={2} align="flex-start">
      <Badge
        variant="light"
        tt="none"
        fw={500}
        size="lg"
        color={COLORS[status] ?? 'gray'}
        c="var(--mantine-color-text)"
      >
        {word ? t(`statuses.${word}`) : status}
      </Badge>
      {reason !== null && <Text size="xs">{t('reason', { reason: cause ? t(`reasons.${cause}`) : reason })}</Text>}
      {until !== null && <Text size="xs">{t('pausedUntil', { at: dateTime(until) })}</Text>}
    </Stack>
  )
}

/** The quality of a template; nothing if it is unknown. */
export function TemplateQuality({ quality }: Pick<Template, 'quality'>) {
  const { t } = useTranslation('templates')
  if (quality === null) return null
  const word = known(QUALITIES, quality)
  return <Text size="sm">{word ? t(`qualities.${word}`) : quality}</Text>
}
