import { Badge, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../shared/format.js'
import type { ApiKey } from '../types.js'

export type KeyState = 'active' | 'ending' | 'expired' | 'revoked'

/** Whether a key works. `ending`: it was replaced and works for a while longer. */
export function stateOf({ revoked_at, expires_at }: ApiKey, now: Date): KeyState {
  if (revoked_at !== null && new Date(revoked_at) <= now) return 'revoked'
  if (expires_at !== null && new Date(expires_at) <= now) return 'expired'
  return revoked_at === null ? 'active' : 'ending'
}

const COLORS: Record<KeyState, string> = { active: 'teal', ending: 'orange', expired: 'gray', revoked: 'gray' }

/** The state of a key as a badge. */
export function KeyBadge({ apiKey }: { apiKey: ApiKey }) {
  const { t } = useTranslation('settings')
  const format = useFormat()
  const state = stateOf(apiKey, new Date())
  return (
    <>
      <Badge color={COLORS[state]} variant="dot" tt="none" flex="none">
        {t(`keys.states.${state}`)}
      </Badge>
      {state === 'ending' && apiKey.revoked_at !== null && (
        <Text size="xs" c="dimmed">
          {t('keys.worksUntil', { at: format.dateTime(apiKey.revoked_at) })}
        </Text>
      )}
    </>
  )
}
