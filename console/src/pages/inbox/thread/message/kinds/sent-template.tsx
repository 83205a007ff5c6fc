import type { ContentOf } from '../../../../../../../src/model/messages/shown/schemas.js'
import { TemplateCard, type TemplateCardProps } from '../../../../../shared/templates/template-card.js'
import type { ThreadMessage } from '../../window.js'

/** A sent template with its values. */
export function SentTemplate({ message, content }: { message: ThreadMessage; content: ContentOf<'template'> }) {
  return <TemplateCard {...readCard(message, content)} />
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
    buttons: buttons.map(({ type, text }) => ({ kind: type ?? 'other', text: text ?? '' })),
  }
}
