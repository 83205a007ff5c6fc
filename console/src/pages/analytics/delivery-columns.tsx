import { useTranslation } from 'react-i18next'
import { useFormat } from '../../shared/format.js'
import type { RangeFigures } from './data.js'
import type { Column } from './figures/figure-table.js'
import { SERIES } from './figures/series.js'

type Delivery = Pick<
  RangeFigures['templateAnalytics'][number],
  'sent' | 'delivered' | 'read' | 'failed' | 'deliveryRate' | 'readRate'
>

/** Columns of the tables of campaigns and of templates. */
export function useDeliveryColumns(): Column<Delivery>[] {
  const { t } = useTranslation('analytics')
  const { number, percent } = useFormat()
  return [
    ...SERIES.map(({ name }) => ({
      key: name,
      label: t(`figures.${name}`),
      value: (row: Delivery) => row[name],
      show: (row: Delivery) => number(row[name]),
    })),
    {
      key: 'deliveryRate',
      label: t('rates.delivery'),
      value: (row) => row.deliveryRate,
      show: (row) => percent(row.deliveryRate),
    },
    { key: 'readRate', label: t('rates.read'), value: (row) => row.readRate, show: (row) => percent(row.readRate) },
  ]
}
