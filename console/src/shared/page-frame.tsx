import { Box, Container, Group, Stack, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import classes from './page-frame.module.css'

export interface PageFrameProps {
  title: string
  /** Elements beside the title, such as a status. */
  badge?: ReactNode
  /** Elements above the title, such as a link back. */
  above?: ReactNode
  /** Text below the title. */
  subtitle?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

/** A page that scrolls, with heading and actions. The title is also the tab's. */
export function PageFrame({ title, badge, above, subtitle, actions, children }: PageFrameProps) {
  useEffect(() => {
    document.title = `${title} · Parley`
  }, [title])
  return (
    <Box className={classes.scroll}>
      <Container size="xl" px={{ base: 'md', sm: 'xl' }} py={{ base: 'md', sm: 'xl' }}>
        <Stack gap="lg">
          <Group justify="space-between" align="flex-start" gap="md">
            <Stack gap={4} className={classes.heading}>
              {above}
              <Group gap="sm">
                <Title order={1} size="h2" className={classes.title}>
                  {title}
                </Title>
                {badge}
              </Group>
              {subtitle}
            </Stack>
            {actions && <Group gap="xs">{actions}</Group>}
          </Group>
          {children}
        </Stack>
      </Container>
    </Box>
  )
}
