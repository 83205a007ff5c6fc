import { Text } from '@mantine/core'
import { IconShoppingBag } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../../../shared/format.js'
import { asObject, asObjects, asText } from '../../../../../shared/json.js'
import type { ThreadMessage } from '../../window.js'
import classes from './body.module.css'

/** An order from the catalogue. */
export function Order({ message }: { message: ThreadMessage }) {
  const { t } = useTranslation('thread')
  const format = useFormat()
  const { product_items, text } = asObject(message.content)
  const price = ({ item_price, currency }: Record<string, unknown>) => {
    const [amount, unit] = [Number(item_price), asText(currency)]
    if (asText(item_price) === null || !Number.isFinite(amount)) return null
    return unit !== null && /^[A-Z]{3}$/.test(unit) ? format.money(amount, unit) : format.number(amount)
  }
  return (
    <div className={classes.box}>
      <Text size="sm" fw={600}>
        <IconShoppingBag aria-hidden size={16} className={classes.inline} /> {t('kinds.order')}
      </Text>
      {asText(text) && (
        <Text size="sm" className={classes.text} p={0}>
          {asText(text)}
        </Text>
      )}
      <ul className={classes.options}>
        {asObjects(product_items).map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same product may be listed twice
          <li key={index}>
            {asText(item.quantity) ?? 1} × {asText(item.product_retailer_id) ?? '?'}
            {price(item) && <Text size="xs">{price(item)}</Text>}
          </li>
        ))}
      </ul>
    </div>
  )
}
