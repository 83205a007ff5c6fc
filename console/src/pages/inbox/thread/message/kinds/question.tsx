import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { asObject, asObjects, asText } from '../../../../../shared/json.js'
import { ButtonRows } from '../../../../../shared/templates/template-card.js'
import classes from './body.module.css'

type Fields = Record<string, unknown>

/** What a message asks for that is no list: its buttons, and its products or cards. */
export function Question({ content }: { content: Fields }) {
  const { t } = useTranslation('thread')
  const named = (kind: string, text: unknown) => [{ kind, text: asText(text) ?? '' }]
  switch (content.type) {
    case 'cta_url':
      return <ButtonRows buttons={named('url', content.display_text)} />
    case 'flow_offer':
      return <ButtonRows buttons={named('flow', content.flow_cta)} />
    case 'location_request':
      return <ButtonRows buttons={named('other', t('asks.location'))} />
    case 'contact_request':
      return <ButtonRows buttons={named('other', t('asks.number'))} />
    case 'address_request':
      return <ButtonRows buttons={named('other', t('asks.address'))} />
    case 'catalog':
      return <ButtonRows buttons={named('other', t('asks.catalog'))} />
    case 'product_offer':
      return (
        <>
          <Options options={[{ text: asText(content.product_id), more: null }]} />
          <ButtonRows buttons={named('other', t('asks.product'))} />
        </>
      )
    case 'product_list':
      return (
        <>
          <Options options={asObjects(content.sections).flatMap(productsOf)} />
          <ButtonRows buttons={named('other', t('asks.products'))} />
        </>
      )
    case 'carousel':
      return <Options options={asObjects(content.cards).map(cardOf)} />
    default:
      return (
        <ButtonRows
          buttons={asObjects(content.buttons).map(({ title }) => ({ kind: 'quick_reply', text: asText(title) ?? '' }))}
        />
      )
  }
}

interface Option {
  text: string | null
  more: string | null
}

function productsOf({ title, product_ids: ids }: Fields): Option[] {
  const products = Array.isArray(ids) ? ids : []
  return products.map((id: unknown) => ({ text: asText(id), more: asText(title) }))
}

/** The text of a card, or its product, and what its buttons say. */
function cardOf(card: Fields): Option {
  const titles = asObjects(card.buttons).map(({ title }) => asText(title) ?? '')
  const more = asText(card.display_text) ?? titles.join(' · ')
  return {
    text: asText(card.body) ?? asText(card.product_id) ?? asText(asObject(card.header_media).url),
    more: more || null,
  }
}

function Options({ options }: { options: Option[] }) {
  return (
    <ul className={classes.options}>
      {options.map(({ text, more }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the entries have no id, and their order never changes
        <li key={index}>
          {text}
          {more && (
            <Text size="xs" className={classes.dim}>
              {more}
            </Text>
          )}
        </li>
      ))}
    </ul>
  )
}
