import { Center, Group, Image, Paper, Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './card.module.css'

/** The card of the sign-in pages. */
export function Card({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Center component="main" mih="100dvh" p="md" className={classes.ground}>
      <Paper withBorder shadow="sm" p="xl" w="100%" maw={420}>
        <Stack>
          <Group gap="sm">
            <Image src="/console/icon.svg" w={32} h={32} alt="" />
            <Title order={1} size="h3">
              {title}
            </Title>
          </Group>
          {children}
        </Stack>
      </Paper>
    </Center>
  )
}
