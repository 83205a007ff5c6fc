import { Button, FileButton, Group, Stack, Text, Textarea } from '@mantine/core'
import { IconFileSpreadsheet } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../../shared/format.js'
import { notifyError } from '../../../../shared/problem.js'
import type { ParsedList } from './parse-list.js'
import { readText } from './read-rows.js'

interface PastedListProps {
  value: string
  error: ReactNode
  list: ParsedList
  onChange: (text: string) => void
}

/** Longer texts make the field slow. */
const MAX_SHOWN = 100_000

/** Takes pasted numbers, or a CSV file that may hold values for each recipient. */
export function PastedList({ value, error, list, onChange }: PastedListProps) {
  const { t } = useTranslation('broadcasts')
  const read = (file: File | null) => file && readText(file).then(onChange, notifyError)
  const isLong = value.length > MAX_SHOWN
  return (
    <Stack gap="xs">
      {isLong ? (
        <Group>
          <Text size="sm">{t('compose.longList')}</Text>
          <Button size="xs" variant="default" onClick={() => onChange('')}>
            {t('remove', { ns: 'common' })}
          </Button>
        </Group>
      ) : (
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
      )}
      <Group justify="space-between" align="flex-start">
        <FileButton onChange={read} accept=".csv,.txt,.tsv,text/csv,text/plain">
          {(props) => (
            <Button {...props} variant="default" size="xs" leftSection={<IconFileSpreadsheet aria-hidden size={16} />}>
              {t('compose.chooseFile')}
            </Button>
          )}
        </FileButton>
        <Summary list={list} />
      </Group>
    </Stack>
  )
}

function Summary({ list: { recipients, columns, ignored } }: { list: ParsedList }) {
  const { t } = useTranslation('broadcasts')
  const { number } = useFormat()
  if (recipients.length === 0) return null
  const names = (paths: string[]) => paths.map((path) => path.slice(path.indexOf('.') + 1)).join(', ')
  return (
    <Stack gap={0} align="flex-end" aria-live="polite">
      <Text size="sm">{t('compose.rows', { count: recipients.length, shown: number(recipients.length) })}</Text>
      {columns.length > 0 && (
        <Text size="xs" c="dimmed">
          {t('compose.columns', { columns: names(columns) })}
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
