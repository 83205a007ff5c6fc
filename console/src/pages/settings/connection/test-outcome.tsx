import { Alert, Box } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { ConnectionCheck } from '../types.js'
import { Checks } from './checks.js'

interface TestOutcomeProps {
  /** Null: not tested yet. */
  checks: ConnectionCheck<'number' | 'templates' | 'orders'>[] | null
  problem: string | null
}

/** The outcome of a connection test, announced to screen readers. */
export function TestOutcome({ checks, problem }: TestOutcomeProps) {
  const { t } = useTranslation('settings')
  const isFine = checks?.every(({ ok }) => ok) ?? false
  return (
    <Box aria-live="polite">
      {problem && (
        <Alert color="red" title={t('test.failed')}>
          {problem}
        </Alert>
      )}
      {checks && !problem && (
        <Alert color={isFine ? 'teal' : 'red'} variant="outline" title={t(isFine ? 'test.works' : 'test.failed')}>
          <Checks
            checks={checks.map(({ check, ok, message }) => ({ label: t(`test.checks.${check}`), ok, message }))}
          />
        </Alert>
      )}
    </Box>
  )
}
