import { Anchor, Stack, Text } from '@mantine/core'
import { IconListDetails } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { ContentOf, ShownContent } from '../../../../../../../src/model/messages/shown/schemas.js'
import { safeAddress } from '../../../../../shared/markup.js'
import { ButtonRows } from '../../../../../shared/templates/template-card.js'
import classes from './body.module.css'

/** The content of a message that offers or asks for something. */
export type Offer = Extract<
  ShownContent,
  {
    type:
      | 'buttons'
      | 'list'
      | 'cta_url'
      | 'flow_offer'
      | 'location_request'
      | 'contact_request'
      | 'address_request'
      | 'product_offer'
      | 'product_list'
      | 'catalog'
      | 'carousel'
  }
>

/** What the customer can choose or open below the text. */
export function Offered({ content }: { content: Offer }) {
  const { t } = useTranslation('thread')
  switch (content.type) {
    case 'buttons':
      return <ButtonRows buttons={content.buttons.map(toReply)} />
    case 'list':
      return <Sections content={content} />
    case 'cta_url':
      return <ButtonRows buttons={[{ kind: 'url', text: content.display_text ?? content.url ?? '' }]} />
    case 'flow_offer':
      return <ButtonRows buttons={[{ kind: 'flow', text: content.flow_cta ?? '' }]} />
    case 'product_offer':
      return <Products ids={content.product_id === null ? [] : [content.product_id]} />
    case 'product_list':
      return <Products ids={content.sections.flatMap(({ product_ids }) => product_ids)} />
    case 'carousel':
      return <Carousel cards={content.cards} />
    default:
      return <ButtonRows buttons={[{ kind: 'quick_reply', text: t(`asks.${content.type}`) }]} />
  }
}

function toReply({ title }: { title: string | null }) {
  return { kind: 'quick_reply', text: title ?? '' }
}

function Sections({ content: { button, sections } }: { content: ContentOf<'list'> }) {
  return (
    <Stack gap={6} mt={6} px={4}>
      <Text size="sm" fw={500} c="var(--mantine-color-anchor)">
        <IconListDetails aria-hidden size={16} className={classes.inline} /> {button}
      </Text>
      {sections.map(({ title, rows }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the entries have no id, and their order never changes
        <div key={index}>
          {title && (
            <Text size="xs" fw={600} className={classes.dim}>
              {title}
            </Text>
          )}
          <ul className={classes.options}>
            {rows.map((row) => (
              <li key={row.id}>
                {row.title}
                {row.description && (
                  <Text size="xs" className={classes.dim}>
                    {row.description}
                  </Text>
                )}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </Stack>
  )
}

/** Products, by their ids in the catalogue. */
export function Products({ ids }: { ids: string[] }) {
  return (
    <ul className={classes.options}>
      {ids.map((id, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same product may be listed twice
        <li key={index}>{id}</li>
      ))}
    </ul>
  )
}

function Carousel({ cards }: { cards: ContentOf<'carousel'>['cards'] }) {
  return (
    <ul className={classes.cards}>
      {cards.map((card, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the entries have no id, and their order never changes
        <li key={index}>
          {card.type !== 'product' && card.header_media && <CardFile file={card.header_media} />}
          {card.type === 'product' ? card.product_id : card.body}
          {card.type === 'cta_url' && <ButtonRows buttons={[{ kind: 'url', text: card.display_text ?? '' }]} />}
          {card.type === 'button' && <ButtonRows buttons={card.buttons.map(toReply)} />}
        </li>
      ))}
    </ul>
  )
}

/** The file of a card: it is at an address of its own, from which the page loads nothing. */
function CardFile({ file: { type, url } }: { file: { type: string | null; url: string | null } }) {
  const { t } = useTranslation('thread')
  const href = url === null ? null : safeAddress(url)
  const name = t(type === 'video' ? 'kinds.video' : 'kinds.image')
  if (href === null) return <Text size="sm">{name}</Text>
  return (
    <Anchor href={href} target="_blank" rel="noopener noreferrer" size="sm" display="block" underline="always">
      {name}
    </Anchor>
  )
}
