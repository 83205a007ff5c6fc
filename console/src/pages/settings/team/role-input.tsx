import { Group, Radio, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { Role } from '../../../api/types.js'
import classes from './role-input.module.css'

const ROLES: readonly Role[] = ['owner', 'agent', 'analyst']

interface RoleInputProps {
  value: Role
  onChange: (role: Role) => void
  error: ReactNode
}

/** Selects a member's role. */
export function RoleInput({ value, onChange, error }: RoleInputProps) {
  const { t } = useTranslation('settings')
  return (
    <Radio.Group label={t('team.role')} value={value} onChange={(role) => onChange(role as Role)} error={error}>
      <Stack gap="xs" mt={4}>
        {ROLES.map((role) => (
          <Radio.Card key={role} value={role} className={classes.card} p="sm">
            <Group wrap="nowrap" align="flex-start" gap="sm">
              <Radio.Indicator />
              <div>
                <Text size="sm" fw={600}>
                  {t(`roles.${role}`, { ns: 'common' })}
                </Text>
                <Text size="sm" c="dimmed">
                  {t(`team.roleHints.${role}`)}
                </Text>
              </div>
            </Group>
          </Radio.Card>
        ))}
      </Stack>
    </Radio.Group>
  )
}
