import { Table, Text, UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react'
import { type Key, type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import classes from './figures.module.css'
import { sortRows } from './sort-rows.js'

export interface Column<Row> {
  key: string
  label: string
  /** The value to sort by. Numbers are aligned right. */
  value: (row: Row) => string | number
  /** Renders the cell; by default it shows the value. */
  show?: (row: Row) => ReactNode
}

interface FigureTableProps<Row> {
  /** Accessible name of the table. */
  caption: string
  columns: Column<Row>[]
  rows: Row[]
  rowKey: (row: Row) => Key
  /** The initial sorting. Without it the table cannot be sorted. */
  isSortable?: boolean
  minWidth?: number
}

/** A table of figures that can be sorted by each column. */
export function FigureTable<Row>(props: FigureTableProps<Row>) {
  const { caption, columns, rows, rowKey, isSortable = false, minWidth = 0 } = props
  const [sort, setSort] = useState<{ key: string; isDescending: boolean } | null>(null)
  const column = columns.find(({ key }) => key === sort?.key)
  const sorted = sort && column ? sortRows(rows, column.value, sort.isDescending) : rows
  const isFigure = ({ value }: Column<Row>) => rows[0] !== undefined && typeof value(rows[0]) === 'number'
  return (
    <Table.ScrollContainer
      minWidth={minWidth}
      type="native"
      tabIndex={0}
      role="group"
      aria-label={caption}
      className={classes.scroll}
    >
      <Table verticalSpacing="xs" highlightOnHover>
        <Table.Caption hidden>{caption}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            {columns.map((one) => (
              <Head
                key={one.key}
                column={one}
                isFigure={isFigure(one)}
                direction={!isSortable ? undefined : sort?.key !== one.key ? null : sort.isDescending}
                onSort={() => setSort(nextSort(sort, one.key, isFigure(one)))}
              />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sorted.map((row) => (
            <Table.Tr key={rowKey(row)}>
              {columns.map((one) => (
                <Table.Td key={one.key} className={isFigure(one) ? classes.number : classes.cell}>
                  {one.show ? one.show(row) : one.value(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

interface HeadProps<Row> {
  column: Column<Row>
  isFigure: boolean
  /** Whether the column sorts descending. Null: another column sorts; undefined: the table cannot be sorted. */
  direction: boolean | null | undefined
  onSort: () => void
}

function Head<Row>({ column: { label }, isFigure, direction, onSort }: HeadProps<Row>) {
  const { t } = useTranslation('analytics')
  const className = isFigure ? classes.number : undefined
  if (direction === undefined) return <Table.Th className={className}>{label}</Table.Th>
  const Icon = direction === null ? IconArrowsSort : direction ? IconArrowDown : IconArrowUp
  return (
    <Table.Th className={className} aria-sort={direction === null ? 'none' : direction ? 'descending' : 'ascending'}>
      <UnstyledButton onClick={onSort} className={classes.sort} data-active={direction !== null || undefined}>
        <Text span size="sm" fw={600}>
          {label}
        </Text>
        <Icon aria-label={t('sort')} size={14} />
      </UnstyledButton>
    </Table.Th>
  )
}

/** Numbers start descending, names ascending. A second click reverses the order. */
function nextSort(sort: { key: string; isDescending: boolean } | null, key: string, isFigure: boolean) {
  return { key, isDescending: sort?.key === key ? !sort.isDescending : isFigure }
}
