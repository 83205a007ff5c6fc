import { Button, FileButton, Group, List, ScrollArea, Stack, Text, Textarea } from '@mantine/core'
import { IconFileSpreadsheet } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { ReadList } from '../../../../../../src/model/broadcasts/read-list.js'
import { translateProblem } from '../../../../i18n/index.js'
import { useFormat } from '../../../../shared/format.js'

interface PastedListProps {
  value: string | File
  error: ReactNode
  list: ReadList
  onChange: (given: string | File) => void
}

/** Longer texts make the field slow. */
const MAX_SHOWN = 100_000
const MAX_HEIGHT = 160

/** Takes pasted numbers, or a CSV file that may hold values for each recipient. */
export function PastedList({ value, error, list, onChange }: PastedListProps) {
  const { t } = useTranslation('broadcasts')
  const choose = (file: File | null) => file && onChange(file)
  const isText = typeof value === 'string' && value.length <= MAX_SHOWN
  return (
    <Stack gap="xs">
      {isText ? (
        <Textarea
          label={t('audiences.list')}
          description={t('audienceHints.list')}
          placeholder={'phone,name,discount\n+55 11 90000-1234,Ana,20%'}
          value={value}
          error={error}
          data-path="list"
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
          autosize
          minRows={4}
          maxRows={12}
          spellCheck={false}
        />
      ) : (
        <Stack gap={4}>
          <Group>
            <Text size="sm">{typeof value === 'string' ? t('compose.longList') : value.name}</Text>
            <Button size="xs" variant="default" onClick={() => onChange('')} data-path="list">
              {t('remove', { ns: 'common' })}
            </Button>
          </Group>
          {error && (
            <Text size="xs" c="red" role="alert">
              {error}
            </Text>
          )}
        </Stack>
      )}
      <Group justify="space-between" align="flex-start">
        <FileButton onChange={choose} accept=".csv,.txt,.tsv,text/csv,text/plain">
          {(props) => (
            <Button {...props} variant="default" size="xs" leftSection={<IconFileSpreadsheet aria-hidden size={16} />}>
              {t('compose.chooseFile')}
            </Button>
          )}
        </FileButton>
        <Summary list={list} />
      </Group>
      <LeftOut list={list} />
    </Stack>
  )
}

function Summary({ list: { recipients, columns, ignored } }: { list: ReadList }) {
  const { t } = useTranslation('broadcasts')
  const { number } = useFormat()
  if (recipients === 0) return null
  const names = columns.flatMap((path) => (path.includes('.') ? [path.slice(path.indexOf('.') + 1)] : []))
  return (
    <Stack gap={0} align="flex-end" aria-live="polite">
      <Text size="sm">{t('compose.rows', { count: recipients, shown: number(recipients) })}</Text>
      {names.length > 0 && (
        <Text size="xs" c="dimmed">
          {t('compose.columns', { columns: names.join(', ') })}
        </Text>
      )}
      {ignored.length > 0 && (
        <Text size="xs" c="dimmed">
          {t('compose.ignored', { columns: ignored.join(', ') })}
        </Text>
      )}
    </Stack>
  )
}

/** The rows that nobody gets a message for, each with its reason. */
function LeftOut({ list: { rejected, errors } }: { list: ReadList }) {
  const { t } = useTranslation('broadcasts')
  const { number } = useFormat()
  if (rejected === 0) return null
  const rest = rejected - errors.length
  return (
    <Stack gap={4} aria-live="polite">
      <Text size="sm">{t('compose.leftOut', { count: rejected, shown: number(rejected) })}</Text>
      <ScrollArea.Autosize mah={MAX_HEIGHT} type="auto">
        <List size="xs">
          {errors.map(({ row, value, ...problem }) => (
            <List.Item key={row}>
              {t('compose.leftOutRow', { row: number(row) })}
              {value !== undefined && !problem.message.includes(value) && ` “${value}”`}: {translateProblem(problem)}
            </List.Item>
          ))}
        </List>
      </ScrollArea.Autosize>
      {rest > 0 && (
        <Text size="xs" c="dimmed">
          {t('compose.leftOutMore', { count: rest, shown: number(rest) })}
        </Text>
      )}
    </Stack>
  )
}
