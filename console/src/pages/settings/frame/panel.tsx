import { Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** A framed part of a section. */
export function Panel({ title, hint, children }: { title?: string; hint?: ReactNode; children: ReactNode }) {
  return (
    <Paper withBorder p={{ base: 'md', sm: 'lg' }}>
      <Stack gap="md">
        {title && (
          <div>
            <Title order={2} size="h4">
              {title}
            </Title>
            {hint && (
              <Text size="sm" c="dimmed">
                {hint}
              </Text>
            )}
          </div>
        )}
        {children}
      </Stack>
    </Paper>
  )
}
