import { Group, Paper, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { IconChartLine, IconTable } from '@tabler/icons-react'
import { type ReactNode, Suspense, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Loading } from '../../../layout/loading.js'

interface PanelProps {
  title: string
  description?: string | undefined
  /** Elements beside the title, such as a download link. */
  actions?: ReactNode
  children: ReactNode
}

/** A part of a page with a heading. */
export function Panel({ title, description, actions, children }: PanelProps) {
  const id = useId()
  return (
    <Paper component="section" withBorder p={{ base: 'sm', sm: 'lg' }} aria-labelledby={id}>
      <Stack gap="md">
        <Group justify="space-between" gap="sm">
          <Stack gap={2}>
            <Title order={2} size="h4" id={id}>
              {title}
            </Title>
            {description && (
              <Text size="sm" c="dimmed">
                {description}
              </Text>
            )}
          </Stack>
          {actions && <Group gap="sm">{actions}</Group>}
        </Group>
        {children}
      </Stack>
    </Paper>
  )
}

/** A panel that shows its figures as a chart or as a table. */
export function ChartPanel({
  chart,
  table,
  actions,
  ...panel
}: Omit<PanelProps, 'children'> & { chart: ReactNode; table: ReactNode }) {
  const { t } = useTranslation('analytics')
  const [view, setView] = useState('chart')
  return (
    <Panel
      {...panel}
      actions={
        <>
          {actions}
          <SegmentedControl
            size="xs"
            value={view}
            onChange={setView}
            aria-label={t('view.label', { of: panel.title })}
            data={[
              { value: 'chart', label: <View icon={<IconChartLine aria-hidden size={16} />} text={t('view.chart')} /> },
              { value: 'table', label: <View icon={<IconTable aria-hidden size={16} />} text={t('view.table')} /> },
            ]}
          />
        </>
      }
    >
      {view === 'chart' ? <Suspense fallback={<Loading />}>{chart}</Suspense> : table}
    </Panel>
  )
}

function View({ icon, text }: { icon: ReactNode; text: string }) {
  return (
    <Group gap={6} wrap="nowrap">
      {icon}
      {text}
    </Group>
  )
}
