import { Anchor, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { useFormat } from '../../shared/format.js'
import type { Range, RangeFigures } from './data.js'
import { useDeliveryColumns } from './delivery-columns.js'
import { ExportLink } from './export-link.js'
import { exportOf } from './export-of.js'
import { FigureTable } from './figures/figure-table.js'
import { Panel } from './figures/panel.js'

type Campaign = RangeFigures['campaignPerformance'][number]

/** The figures of each campaign. Broadcasts link to their details. */
export function CampaignsPanel({ campaigns, range }: { campaigns: Campaign[]; range: Range }) {
  const { t } = useTranslation('analytics')
  const { number, date, money } = useFormat()
  const delivery = useDeliveryColumns()
  return (
    <Panel
      title={t('campaigns.title')}
      actions={<ExportLink href={exportOf('campaigns', range)} of={t('campaigns.title')} />}
    >
      <FigureTable
        caption={t('campaigns.title')}
        rows={campaigns}
        rowKey={(campaign) => campaign.broadcastId ?? `${campaign.templateName} ${campaign.createdAt}`}
        isSortable
        minWidth={900}
        columns={[
          {
            key: 'name',
            label: t('campaigns.name'),
            value: ({ name }) => name,
            show: (campaign) => <CampaignName campaign={campaign} />,
          },
          {
            key: 'createdAt',
            label: t('campaigns.date'),
            value: ({ createdAt }) => createdAt,
            show: ({ createdAt }) => date(createdAt),
          },
          {
            key: 'totalRecipients',
            label: t('figures.recipients'),
            value: ({ totalRecipients }) => totalRecipients,
            show: ({ totalRecipients }) => number(totalRecipients),
          },
          ...delivery,
          {
            key: 'attributed',
            label: t('revenue.attributed'),
            value: ({ revenue }) => revenue.attributed.totalRevenue,
            show: ({ revenue }) => money(revenue.attributed.totalRevenue, revenue.currency),
          },
        ]}
      />
    </Panel>
  )
}

function CampaignName({ campaign: { broadcastId, name, templateName } }: { campaign: Campaign }) {
  const { t } = useTranslation('analytics')
  return (
    <Stack gap={0}>
      {broadcastId === null ? (
        <Text size="sm">{t('campaigns.oneOffSends')}</Text>
      ) : (
        <Anchor component={Link} to={`/broadcasts/${broadcastId}`} size="sm" fw={500}>
          {name}
        </Anchor>
      )}
      <Text size="xs" c="dimmed">
        {templateName}
      </Text>
    </Stack>
  )
}
