import { Group, Radio, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../../../session/session.js'
import type { InstanceKind } from '../types.js'
import classes from './kind-input.module.css'

const KINDS: readonly InstanceKind[] = ['linked_device', 'business_api', 'sandbox']

interface KindInputProps {
  value: InstanceKind
  onChange: (kind: InstanceKind) => void
  error: ReactNode
}

/** Selects the kind of an instance. Simulated phones are offered only in the sandbox. */
export function KindInput({ value, onChange, error }: KindInputProps) {
  const { t } = useTranslation('settings')
  const { simulator } = useSession()
  return (
    <Radio.Group
      label={t('instances.kind')}
      value={value}
      onChange={(kind) => onChange(kind as InstanceKind)}
      error={error}
    >
      <Stack gap="xs" mt={4}>
        {KINDS.filter((kind) => kind !== 'sandbox' || simulator).map((kind) => (
          <Radio.Card key={kind} value={kind} className={classes.card} p="sm">
            <Group wrap="nowrap" align="flex-start" gap="sm">
              <Radio.Indicator />
              <div>
                <Text size="sm" fw={600}>
                  {t(`instances.kinds.${kind}`)}
                </Text>
                <Text size="sm" c="dimmed">
                  {t(`instances.kindHints.${kind}`)}
                </Text>
              </div>
            </Group>
          </Radio.Card>
        ))}
      </Stack>
    </Radio.Group>
  )
}
