import { Text } from '@mantine/core'
import { IconShoppingBag } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { ContentOf } from '../../../../../../../src/model/messages/shown/schemas.js'
import { useFormat } from '../../../../../shared/format.js'
import classes from './body.module.css'

/** An order from the catalogue. */
export function Order({ content }: { content: ContentOf<'order'> }) {
  const { t } = useTranslation('thread')
  const money = useMoney()
  const { text, items, total, title, item_count: count } = content
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
      {(title ?? count ?? null) !== null && (
        <Text size="sm">
          {count ?? '?'} × {title ?? '?'}
        </Text>
      )}
      {total !== undefined && items.length !== 1 && (
        <Text size="sm" fw={600} mt={6}>
          {t('orderTotal', { total: money(total, items[0]?.currency ?? content.currency ?? null) })}
        </Text>
      )}
    </div>
  )
}

/** An amount with its currency, if that is one. */
function useMoney(): (amount: number, currency: string | null) => string {
  const format = useFormat()
  return (amount, currency) =>
    currency !== null && /^[A-Z]{3}$/.test(currency) ? format.money(amount, currency) : format.number(amount)
}

/** A product of the catalogue. */
export function Product({ content }: { content: ContentOf<'product'> }) {
  const { t } = useTranslation('thread')
  const money = useMoney()
  const { product_id, catalog_id, title, description, price = null, currency = null } = content
  return (
    <div className={classes.box}>
      <Text size="xs" className={classes.dim}>
        <IconShoppingBag aria-hidden size={13} className={classes.inline} /> {t('kinds.product')}
      </Text>
      <Text size="sm" fw={600}>
        {title ?? product_id ?? catalog_id ?? '?'}
      </Text>
      {price !== null && <Text size="sm">{money(price, currency)}</Text>}
      {description && (
        <Text size="xs" className={classes.text} p={0}>
          {description}
        </Text>
      )}
    </div>
  )
}
