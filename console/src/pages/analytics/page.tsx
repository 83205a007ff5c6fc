import { Box, EmptyState, Stack, Text } from '@mantine/core'
import { IconChartLine } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Loading } from '../../layout/loading.js'
import { useSession } from '../../session/session.js'
import { PageFrame } from '../../shared/page-frame.js'
import { LoadProblem } from '../../shared/problem.js'
import { CampaignsPanel } from './campaigns-panel.js'
import { useRangeFigures } from './data.js'
import { DaysPanel } from './days-panel.js'
import { ErrorsPanel } from './errors-panel.js'
import { useRange } from './range.js'
import { RangePicker } from './range-picker.js'
import { RangeTiles } from './range-tiles.js'
import { TemplatesPanel } from './templates-panel.js'

/** `/analytics`: the figures of all campaigns that started in a range of days. */
export default function AnalyticsPage() {
  const { t } = useTranslation('analytics')
  const { timezone } = useSession().organization
  const range = useRange()
  const { data: figures, error, isPending, isPlaceholderData, refetch } = useRangeFigures(range)
  const isNothing = figures?.overallStats.totalCampaigns === 0
  return (
    <PageFrame
      title={t('title')}
      subtitle={
        <Text size="sm" c="dimmed">
          {t('zone', { timezone })}
        </Text>
      }
      actions={<RangePicker range={range} />}
    >
      {error && <LoadProblem error={error} retry={() => void refetch()} />}
      {isPending && <Loading />}
      {figures && !error && (
        <Box aria-busy={isPlaceholderData} aria-live="polite" opacity={isPlaceholderData ? 0.6 : 1}>
          {isNothing ? (
            <EmptyState
              icon={<IconChartLine aria-hidden />}
              title={t('empty.title')}
              description={t('empty.hint')}
              variant="light"
              py={80}
            />
          ) : (
            <Stack gap="lg">
              <RangeTiles stats={figures.overallStats} />
              <DaysPanel days={figures.timeSeriesData} range={range} />
              <CampaignsPanel campaigns={figures.campaignPerformance} range={range} />
              <TemplatesPanel templates={figures.templateAnalytics} range={range} />
              <ErrorsPanel errors={figures.errorAnalysis} range={range} />
            </Stack>
          )}
        </Box>
      )}
    </PageFrame>
  )
}
