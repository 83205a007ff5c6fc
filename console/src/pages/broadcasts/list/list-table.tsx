import { Anchor, Stack, Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { useFormat } from '../../../shared/format.js'
import classes from '../broadcasts.module.css'
import type { Broadcast } from '../data.js'
import { BroadcastProgress } from '../progress.js'
import { StatusBadge } from '../status-badge.js'
import { When } from '../when.js'
import { type ListFigures, useListFigures } from './list-figures.js'

/** A page of broadcasts. On a phone, each is one cell. */
export function ListTable({ broadcasts }: { broadcasts: Broadcast[] }) {
  const { t } = useTranslation('broadcasts')
  const figures = useListFigures(broadcasts)
  return (
    <Table verticalSpacing="sm" horizontalSpacing="md" highlightOnHover>
      <Table.Caption hidden>{t('title')}</Table.Caption>
      <Table.Thead visibleFrom="sm">
        <Table.Tr>
          <Table.Th>{t('columns.name')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('columns.status')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('columns.when')}</Table.Th>
          <Table.Th visibleFrom="sm" className={classes.number}>
            {t('columns.recipients')}
          </Table.Th>
          <Table.Th visibleFrom="sm" w={280}>
            {t('columns.progress')}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {broadcasts.map((broadcast) => (
          <Row key={broadcast.id} broadcast={broadcast} figures={figures.get(broadcast.id)} />
        ))}
      </Table.Tbody>
    </Table>
  )
}

function Row({ broadcast, figures }: { broadcast: Broadcast; figures: ListFigures | undefined }) {
  const { t } = useTranslation('broadcasts')
  const { number } = useFormat()
  const { id, name, templateName, language, status, totalRecipients } = broadcast
  return (
    <Table.Tr>
      <Table.Td className={classes.cell}>
        <Anchor component={Link} to={`/broadcasts/${id}`} size="sm" fw={500}>
          {name}
        </Anchor>
        <Text size="xs" c="dimmed">
          {templateName} · {language}
        </Text>
        <Stack hiddenFrom="sm" gap={6} mt={6} align="flex-start">
          <StatusBadge status={status} />
          <When broadcast={broadcast} />
          <Text size="sm">{t('recipients', { count: totalRecipients, shown: number(totalRecipients) })}</Text>
          <BroadcastOutcome broadcast={broadcast} figures={figures} />
        </Stack>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <StatusBadge status={status} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <When broadcast={broadcast} />
      </Table.Td>
      <Table.Td visibleFrom="sm" className={classes.number}>
        {number(totalRecipients)}
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <BroadcastOutcome broadcast={broadcast} figures={figures} />
      </Table.Td>
    </Table.Tr>
  )
}

/** The progress of a broadcast. For a finished one, its figures. */
function BroadcastOutcome({ broadcast, figures }: { broadcast: Broadcast; figures: ListFigures | undefined }) {
  const { t } = useTranslation('broadcasts')
  const { percent, number } = useFormat()
  if (broadcast.status === 'running' || broadcast.status === 'paused')
    return <BroadcastProgress broadcast={broadcast} />
  if (!figures) return null
  return (
    <Stack gap={0}>
      <Text size="sm">{t('came', { delivered: percent(figures.deliveryRate), read: percent(figures.readRate) })}</Text>
      {figures.failed > 0 && (
        <Text size="xs" c="dimmed">
          {t('failures', { count: figures.failed, shown: number(figures.failed) })}
        </Text>
      )}
    </Stack>
  )
}
