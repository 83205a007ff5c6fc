import { useTranslation } from 'react-i18next'
import { useFormat } from '../../shared/format.js'
import type { Range, RangeFigures } from './data.js'
import { useDeliveryColumns } from './delivery-columns.js'
import { ExportLink } from './export-link.js'
import { exportOf } from './export-of.js'
import { FigureTable } from './figures/figure-table.js'
import { Panel } from './figures/panel.js'

/** The figures of each template. */
export function TemplatesPanel({ templates, range }: { templates: RangeFigures['templateAnalytics']; range: Range }) {
  const { t } = useTranslation('analytics')
  const { number } = useFormat()
  const delivery = useDeliveryColumns()
  return (
    <Panel
      title={t('templates.title')}
      actions={<ExportLink href={exportOf('templates', range)} of={t('templates.title')} />}
    >
      <FigureTable
        caption={t('templates.title')}
        rows={templates}
        rowKey={({ templateName }) => templateName}
        isSortable
        minWidth={760}
        columns={[
          { key: 'templateName', label: t('templates.name'), value: ({ templateName }) => templateName },
          {
            key: 'usageCount',
            label: t('templates.campaigns'),
            value: ({ usageCount }) => usageCount,
            show: ({ usageCount }) => number(usageCount),
          },
          ...delivery,
        ]}
      />
    </Panel>
  )
}
