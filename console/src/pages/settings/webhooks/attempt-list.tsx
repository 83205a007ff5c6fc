import { Code, Text, Timeline } from '@mantine/core'
import { IconCheck, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../shared/format.js'
import type { Attempt } from '../types.js'
import classes from './payload.module.css'

/** The attempts of a delivery, newest first. */
export function AttemptList({ attempts }: { attempts: Attempt[] }) {
  const { t } = useTranslation('settings')
  if (attempts.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t('webhooks.notTried')}
      </Text>
    )
  }
  return (
    <Timeline active={attempts.length - 1} bulletSize={22} lineWidth={2}>
      {attempts.toReversed().map((attempt, index) => (
        <Timeline.Item
          key={attempt.at}
          color={attempt.error === null ? 'teal.8' : 'red.8'}
          lineVariant={index === attempts.length - 1 ? 'dashed' : 'solid'}
          bullet={attempt.error === null ? <IconCheck size={14} aria-hidden /> : <IconX size={14} aria-hidden />}
          title={
            <Text size="sm" fw={600} component="span">
              {attempt.response_status ?? t('webhooks.noAnswer')}
            </Text>
          }
        >
          <AttemptText attempt={attempt} />
        </Timeline.Item>
      ))}
    </Timeline>
  )
}

function AttemptText({ attempt: { at, duration_ms, error, response_body } }: { attempt: Attempt }) {
  const { t } = useTranslation('settings')
  const format = useFormat()
  return (
    <>
      <Text size="sm" c="dimmed">
        {format.dateTime(at)} · {t('webhooks.duration', { ms: format.number(duration_ms) })}
      </Text>
      {error !== null && <Text size="sm">{error}</Text>}
      {response_body && (
        <Code block className={classes.answer} mt={4}>
          {response_body}
        </Code>
      )}
    </>
  )
}
