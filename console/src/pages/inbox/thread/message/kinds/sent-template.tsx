import { asObject, asObjects, asText } from '../../../../../shared/json.js'
import { TemplateCard, type TemplateCardProps } from '../../../../../shared/templates/template-card.js'
import type { ThreadMessage } from '../../window.js'

/** A sent template with its values. */
export function SentTemplate({ message }: { message: ThreadMessage }) {
  return <TemplateCard {...readCard(message)} />
}

function readCard({ message, media_type, media_url, content }: ThreadMessage): TemplateCardProps {
  const { header, location, filename, footer, buttons } = asObject(content)
  const place = asObject(location)
  const kind = media_type === 'image' || media_type === 'video' || media_type === 'document' ? media_type : null
  return {
    header: asText(header),
    place: location ? { name: asText(place.name) ?? '', address: asText(place.address) ?? '' } : null,
    file: kind && { kind, url: media_url, filename: asText(filename) },
    body: message,
    footer: asText(footer),
    buttons: asObjects(buttons).map(({ type, text }) => ({ kind: asText(type) ?? 'other', text: asText(text) ?? '' })),
  }
}
