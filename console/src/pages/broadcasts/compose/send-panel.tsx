import { Button, Group, List, Loader, ScrollArea, Stack, Text } from '@mantine/core'
import { IconCalendarClock, IconSend } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../shared/format.js'
import { messageOf } from '../../../shared/problem.js'
import { skipReason } from '../skip-reason.js'
import type { useReach } from './data.js'
import { Section } from './section.js'

type ShownReach = Pick<ReturnType<typeof useReach>, 'data' | 'error' | 'isFetching'>

interface SendPanelProps {
  /** Undefined until an audience is chosen. */
  reach: ShownReach | undefined
  isLater: boolean
  onSend: () => void
}

/** In pixels. */
const MAX_DOUBTFUL = 160

/** Shows how many people the broadcast reaches, who is skipped, and which numbers are in doubt; opens the review. */
export function SendPanel({ reach, isLater, onSend }: SendPanelProps) {
  const { t } = useTranslation('broadcasts')
  return (
    <Section title={t('reach.title')}>
      <Stack gap="xs" aria-live="polite">
        {reach ? (
          <Reach reach={reach} />
        ) : (
          <Text size="sm" c="dimmed">
            {t('reach.none')}
          </Text>
        )}
      </Stack>
      <Button
        size="md"
        onClick={onSend}
        leftSection={isLater ? <IconCalendarClock aria-hidden size={18} /> : <IconSend aria-hidden size={18} />}
      >
        {t(isLater ? 'compose.reviewLater' : 'compose.review')}
      </Button>
    </Section>
  )
}

function Reach({ reach: { data, error, isFetching } }: { reach: ShownReach }) {
  const { t } = useTranslation('broadcasts')
  const { number } = useFormat()
  if (error) return <Text size="sm">{messageOf(error)}</Text>
  if (!data) return <Loader size="sm" type="dots" />
  const { reachable, skipped, doubts, doubtful } = data
  const left = skipped.reduce((sum, { count }) => sum + count, 0)
  return (
    <>
      <Group gap="xs">
        <Text size="lg" fw={600}>
          {t('reach.reached', { count: reachable, shown: number(reachable) })}
        </Text>
        {isFetching && <Loader size="xs" aria-label={t('loading', { ns: 'common' })} />}
      </Group>
      {left > 0 && (
        <Stack gap={2}>
          <Text size="sm">{t('reach.skipped', { count: left, shown: number(left) })}</Text>
          <List size="sm">
            {skipped.map(({ reason, count }) => (
              <List.Item key={reason}>
                {skipReason(t, reason)}: {number(count)}
              </List.Item>
            ))}
          </List>
        </Stack>
      )}
      {doubts > 0 && (
        <Stack gap={2}>
          <Text size="sm">{t('reach.doubts', { count: doubts, shown: number(doubts) })}</Text>
          <ScrollArea.Autosize mah={MAX_DOUBTFUL} type="auto">
            <List size="sm">
              {doubtful.map(({ given, read_as, or }, n) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a number may be listed twice, and the list is replaced as a whole
                <List.Item key={n}>
                  {t(or === null ? 'reach.abroad' : 'reach.bothWays', { given, read: read_as, other: or ?? '' })}
                </List.Item>
              ))}
            </List>
          </ScrollArea.Autosize>
        </Stack>
      )}
    </>
  )
}
