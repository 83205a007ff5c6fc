import { Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { useTranslation } from 'react-i18next'

interface SectionProps {
  title: string
  hint?: ReactNode
  /** Buttons beside the title. */
  actions?: ReactNode
  children: ReactNode
}

/** A section of the settings: title, description and panels. */
export function Section({ title, hint, actions, children }: SectionProps) {
  const { t } = useTranslation('settings')
  useEffect(() => {
    document.title = `${title} · ${t('title')} · Parley`
  }, [title, t])
  return (
    <Stack gap="lg" maw={960}>
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={4} flex="1 1 280px" miw={0}>
          <Title order={1} size="h2" textWrap="balance">
            {title}
          </Title>
          {hint && <Text c="dimmed">{hint}</Text>}
        </Stack>
        {actions}
      </Group>
      {children}
    </Stack>
  )
}
