import { Group, Paper, SimpleGrid, Text } from '@mantine/core'
import { Children, type ReactNode } from 'react'
import classes from './figures.module.css'

export interface TileProps {
  label: string
  value: string
  /** Text below the figure, such as its rate. */
  hint?: string | undefined
  /** Its colour in the charts. */
  series?: 'sent' | 'delivered' | 'read' | 'failed' | 'clicked'
}

/** Figures with their names, in rows of the same length. */
export function Tiles({ children, label }: { children: ReactNode; label: string }) {
  const inRow = Children.count(children) % 3 === 0 ? 3 : 4
  return (
    <SimpleGrid component="dl" aria-label={label} cols={{ base: 2, sm: inRow }} spacing="sm" m={0}>
      {children}
    </SimpleGrid>
  )
}

/** A figure of Tiles. */
export function Tile({ label, value, hint, series }: TileProps) {
  return (
    <Paper withBorder p={{ base: 'sm', sm: 'md' }}>
      <Group component="dt" gap={8} wrap="nowrap">
        {series && <span className={classes.dot} data-series={series} aria-hidden />}
        <Text span size="sm" c="dimmed">
          {label}
        </Text>
      </Group>
      <Text component="dd" m={0} mt={4} className={classes.figure}>
        {value}
      </Text>
      {hint !== undefined && (
        <Text component="dd" m={0} size="sm" c="dimmed">
          {hint}
        </Text>
      )}
    </Paper>
  )
}
