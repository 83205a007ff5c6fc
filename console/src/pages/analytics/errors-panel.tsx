import { Code, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../shared/format.js'
import type { Range, RangeFigures } from './data.js'
import { errorHint } from './error-hint.js'
import { ExportLink } from './export-link.js'
import { exportOf } from './export-of.js'
import { FigureTable } from './figures/figure-table.js'
import { Panel } from './figures/panel.js'

type ErrorRow = RangeFigures['errorAnalysis'][number]

/** Why messages failed, and what to do. */
export function ErrorsPanel({ errors, range }: { errors: ErrorRow[]; range: Range }) {
  const { t } = useTranslation('analytics')
  const { number, percent } = useFormat()
  if (errors.length === 0) {
    return (
      <Panel title={t('errors.title')}>
        <Text c="dimmed">{t('errors.none')}</Text>
      </Panel>
    )
  }
  return (
    <Panel title={t('errors.title')} actions={<ExportLink href={exportOf('errors', range)} of={t('errors.title')} />}>
      <FigureTable
        caption={t('errors.title')}
        rows={errors}
        rowKey={({ errorCode }) => errorCode}
        columns={[
          {
            key: 'reason',
            label: t('errors.reason'),
            value: ({ errorMessage }) => errorMessage,
            show: (error) => <Reason error={error} />,
          },
          { key: 'count', label: t('errors.count'), value: ({ count }) => count, show: ({ count }) => number(count) },
          {
            key: 'percentage',
            label: t('errors.share'),
            value: ({ percentage }) => percentage,
            show: ({ percentage }) => percent(percentage),
          },
        ]}
      />
    </Panel>
  )
}

function Reason({ error: { errorCode, errorMessage } }: { error: ErrorRow }) {
  const { t } = useTranslation('analytics')
  const hint = errorHint(t, errorCode)
  return (
    <Stack gap={4} maw={720}>
      <Text size="sm">
        <Code>{errorCode}</Code> {errorMessage}
      </Text>
      {hint && (
        <Text size="sm" c="dimmed">
          {hint}
        </Text>
      )}
    </Stack>
  )
}
