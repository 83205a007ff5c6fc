import { Text } from '@mantine/core'
import { IconShoppingBag } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { ContentOf } from '../../../../../../../src/model/messages/shown/schemas.js'
import { useFormat } from '../../../../../shared/format.js'
import classes from './body.module.css'

/** An order from the catalogue. */
export function Order({ content: { text, items, total } }: { content: ContentOf<'order'> }) {
  const { t } = useTranslation('thread')
  const format = useFormat()
  const money = (amount: number, currency: string | null) =>
    currency !== null && /^[A-Z]{3}$/.test(currency) ? format.money(amount, currency) : format.number(amount)
  return (
    <div className={classes.box}>
      <Text size="sm" fw={600}>
        <IconShoppingBag aria-hidden size={16} className={classes.inline} /> {t('kinds.order')}
      </Text>
      {text && (
        <Text size="sm" className={classes.text} p={0}>
          {text}
        </Text>
      )}
      <ul className={classes.options}>
        {items.map(({ quantity, product_id, price, currency }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same product may be listed twice
          <li key={index}>
            {quantity ?? 1} × {product_id ?? '?'}
            {price !== null && <Text size="xs">{money(price, currency)}</Text>}
          </li>
        ))}
      </ul>
      {total !== undefined && items.length > 1 && (
        <Text size="sm" fw={600} mt={6}>
          {t('orderTotal', { total: money(total, items[0]?.currency ?? null) })}
        </Text>
      )}
    </div>
  )
}

/** A product of the catalogue. */
export function Product({ content: { product_id, catalog_id } }: { content: ContentOf<'product'> }) {
  const { t } = useTranslation('thread')
  return (
    <div className={classes.box}>
      <Text size="xs" className={classes.dim}>
        <IconShoppingBag aria-hidden size={13} className={classes.inline} /> {t('kinds.product')}
      </Text>
      <Text size="sm" fw={600}>
        {product_id ?? catalog_id ?? '?'}
      </Text>
    </div>
  )
}
