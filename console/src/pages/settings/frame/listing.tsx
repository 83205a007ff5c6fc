import { Box, DataList, Group, Paper, Stack, Table, VisuallyHidden } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import { useIsPhone } from '../../../layout/use-is-phone.js'

/** A column of the table, or a line of each card. */
export interface Column<Row> {
  /** Also the column's heading. */
  label: string
  cell: (row: Row) => ReactNode
  /** Where a card shows it: `title` on the first line, `actions` beside the title, the rest below with its label. */
  place?: 'title' | 'actions'
}

interface ListingProps<Row> {
  /** Accessible name of the list. */
  label: string
  columns: Column<Row>[]
  rows: Row[]
}

/** A table, or cards on narrow screens. */
export function Listing<Row extends { id: string }>(props: ListingProps<Row>) {
  const isPhone = useIsPhone()
  return isPhone ? <Cards {...props} /> : <Rows {...props} />
}

function Rows<Row extends { id: string }>({ label, columns, rows }: ListingProps<Row>) {
  return (
    <Paper withBorder>
      <Table.ScrollContainer minWidth={640} type="native">
        <Table aria-label={label} verticalSpacing="sm" horizontalSpacing="md" highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              {columns.map(({ label: head, place }) => (
                <Table.Th key={head} scope="col">
                  {place === 'actions' ? <VisuallyHidden>{head}</VisuallyHidden> : head}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={row.id}>
                {columns.map(({ label: head, place, cell }) => (
                  <Table.Td key={head} {...(place === 'actions' && { ta: 'end' })}>
                    {cell(row)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}

function Cards<Row extends { id: string }>({ label, columns, rows }: ListingProps<Row>) {
  const inPlace = (place: Column<Row>['place']) => columns.filter((column) => column.place === place)
  return (
    <Stack component="ul" gap="sm" p={0} m={0} aria-label={label}>
      {rows.map((row) => (
        <Paper component="li" key={row.id} withBorder p="md">
          <Group justify="space-between" wrap="nowrap" align="flex-start" mb="sm">
            <Box miw={0}>
              {inPlace('title').map(({ label: head, cell }) => (
                <Fragment key={head}>{cell(row)}</Fragment>
              ))}
            </Box>
            {inPlace('actions').map(({ label: head, cell }) => (
              <Fragment key={head}>{cell(row)}</Fragment>
            ))}
          </Group>
          <DataList size="sm" gap={6} labelWidth={104}>
            {inPlace(undefined).map(({ label: head, cell }) => (
              <DataList.Item key={head}>
                <DataList.ItemLabel>{head}</DataList.ItemLabel>
                <DataList.ItemValue miw={0}>{cell(row)}</DataList.ItemValue>
              </DataList.Item>
            ))}
          </DataList>
        </Paper>
      ))}
    </Stack>
  )
}
