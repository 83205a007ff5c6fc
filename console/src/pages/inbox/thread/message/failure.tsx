import { Button, Group, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { usePendingSends } from '../../composer/pending-sends.js'
import { repeatFields, repeatKey } from '../../composer/requests.js'
import { useThreadActions } from '../actions.js'
import type { ThreadMessage } from '../window.js'
import classes from './bubble.module.css'

/**
 * WhatsApp's error codes and the service's own errors that have a text of the page, which is better than the original.
 */
const KNOWN = [
  '131026',
  '131047',
  '131048',
  '131049',
  '131050',
  '131053',
  '131056',
  '130429',
  '130472',
  '131021',
  '131031',
  '190',
  '132001',
  '132015',
  '132016',
  'account_restricted',
  'outcome_unknown',
  'upstream_unavailable',
] as const

const NEEDS_TEMPLATE = '131047'

/** Why a message failed, and what can be done. */
export function Failure({ message }: { message: ThreadMessage }) {
  const { t } = useTranslation('thread')
  const { mayWrite, sendAgain, chooseTemplate } = useThreadActions()
  const isInProgress = usePendingSends(message.contact_id).some(({ key }) => key === repeatKey(message))
  const { error } = message
  const code = KNOWN.find((known) => known === String(error?.code))
  const reason = code ? t(`reasons.${code}`) : (error?.text ?? t('reasons.unknown'))
  return (
    <div className={classes.failure}>
      <Text size="xs" className={classes.failureText}>
        {reason}
        {error !== null && /^\d+$/.test(String(error.code)) && ` (${error.code})`}
      </Text>
      {mayWrite && (
        <Group gap={6} mt={4}>
          {code === NEEDS_TEMPLATE && (
            <Button size="compact-xs" variant="default" onClick={chooseTemplate}>
              {t('sendTemplate')}
            </Button>
          )}
          {code !== NEEDS_TEMPLATE && repeatFields(message) !== null && (
            <Button size="compact-xs" variant="default" disabled={isInProgress} onClick={() => sendAgain(message)}>
              {t('sendAgain')}
            </Button>
          )}
        </Group>
      )}
    </div>
  )
}
