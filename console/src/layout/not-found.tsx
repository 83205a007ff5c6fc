import { Anchor, Center, Stack, Text, Title } from '@mantine/core'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

/** Shown for unknown URLs. */
export function NotFound() {
  const { t } = useTranslation()
  useEffect(() => {
    document.title = `${t('notFound')} · Parley`
  }, [t])
  return (
    <Center flex={1} p="md">
      <Stack align="center" gap="xs">
        <Title order={1} size="h3">
          {t('notFound')}
        </Title>
        <Text c="dimmed">{t('notFoundHint')}</Text>
        <Anchor component={Link} to="/inbox">
          {t('toInbox')}
        </Anchor>
      </Stack>
    </Center>
  )
}
