import { Button } from '@mantine/core'
import { IconPlugConnected } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { SaveBar, type SaveBarProps } from '../forms/save-bar.js'
import { TestOutcome } from './test-outcome.js'
import type { useConnectionTest } from './use-connection-test.js'

interface ConnectionBarProps extends Omit<SaveBarProps, 'children'> {
  test: ReturnType<typeof useConnectionTest>
}

/** The end of a connection's form: test and save. */
export function ConnectionBar({ test: { run, isPending, checks, problem }, ...save }: ConnectionBarProps) {
  const { t } = useTranslation('settings')
  return (
    <>
      <TestOutcome checks={checks} problem={problem} />
      <SaveBar {...save}>
        <Button
          variant="default"
          leftSection={<IconPlugConnected size={18} aria-hidden />}
          onClick={run}
          loading={isPending}
        >
          {t('test.run')}
        </Button>
      </SaveBar>
    </>
  )
}
