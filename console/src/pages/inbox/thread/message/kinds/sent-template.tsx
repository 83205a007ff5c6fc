import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { ContentOf } from '../../../../../../../src/model/messages/shown/schemas.js'
import { useFormat } from '../../../../../shared/format.js'
import { ButtonRows, TemplateCard, type TemplateCardProps } from '../../../../../shared/templates/template-card.js'
import type { ThreadMessage } from '../../window.js'
import classes from './body.module.css'
import { Products } from './offered.js'

/** A sent template with its values. */
export function SentTemplate({ message, content }: { message: ThreadMessage; content: ContentOf<'template'> }) {
  return (
    <TemplateCard {...readCard(message, content)}>
      <Parts content={content} />
    </TemplateCard>
  )
}

function readCard(
  { message, media_type, media_url }: ThreadMessage,
  { header, location, filename, footer, buttons }: ContentOf<'template'>,
): TemplateCardProps {
  const kind = media_type === 'image' || media_type === 'video' || media_type === 'document' ? media_type : null
  return {
    header,
    place: location && { name: location.name ?? '', address: location.address ?? '' },
    file: kind && { kind, url: media_url, filename },
    body: message,
    footer,
    buttons: buttons.map(toRow),
  }
}

/** What a template has besides texts: products, the end of an offer, cards. */
function Parts({
  content: { product, offer_ends_at: end, sections = [], cards = [] },
}: {
  content: ContentOf<'template'>
}) {
  const { t } = useTranslation('thread')
  const { dateTime } = useFormat()
  const ids = [product?.product_id ?? [], sections.flatMap(({ product_ids }) => product_ids)].flat()
  return (
    <>
      {end !== undefined && (
        <Text size="xs" px={4} className={classes.dim}>
          {t('offerEnds', { at: dateTime(end) })}
        </Text>
      )}
      {ids.length > 0 && <Products ids={ids} />}
      {cards.length > 0 && (
        <ul className={classes.cards}>
          {cards.map((card, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the entries have no id, and their order never changes
            <li key={index}>
              {[card.body, card.product?.product_id].filter(Boolean).join(' · ')}
              <ButtonRows buttons={card.buttons.map(toRow)} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function toRow({ type, text }: { type: string | null; text: string | null }) {
  return { kind: type ?? 'other', text: text ?? '' }
}
