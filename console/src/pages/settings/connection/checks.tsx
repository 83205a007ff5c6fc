import { Box, Group, Stack, Text, ThemeIcon } from '@mantine/core'
import { IconCheck, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

/** The outcome of each check of a connection test. */
export function Checks({ checks }: { checks: { label: string; ok: boolean; message: string }[] }) {
  const { t } = useTranslation('settings')
  return (
    <Stack component="ul" gap="xs" p={0} m={0}>
      {checks.map(({ label, ok, message }) => (
        <Group component="li" key={label} gap="sm" align="flex-start" wrap="nowrap">
          <ThemeIcon
            size={22}
            radius="xl"
            color={ok ? 'teal.8' : 'red.8'}
            aria-label={t(ok ? 'checks.ok' : 'checks.failed')}
            role="img"
          >
            {ok ? <IconCheck size={14} aria-hidden /> : <IconX size={14} aria-hidden />}
          </ThemeIcon>
          <Box miw={0}>
            <Text size="sm" fw={600}>
              {label}
            </Text>
            <Text size="sm">{message}</Text>
          </Box>
        </Group>
      ))}
    </Stack>
  )
}
