import type { InteractiveHeader } from '../model/messages/content.js'
import type { Card, Flow, InteractiveContent, UrlButton } from '../model/messages/interactive.js'
import type * as wire from '../upstream/wire.js'
import { optional, toFileHeader, toProductSections, type UploadedFile } from './business-parts.js'

/** An interactive message in the upstream's format. */
export function toInteractive(
  content: InteractiveContent,
  header: InteractiveHeader<UploadedFile> | null,
): wire.InteractivePayload {
  const body = { text: content.body }
  const frame = { body, ...optional('footer', toText(content.footer)) }
  switch (content.type) {
    case 'button':
      return {
        type: 'button',
        ...withHeader(header),
        ...frame,
        action: { buttons: content.buttons.map((reply) => ({ type: 'reply' as const, reply })) },
      }
    case 'list': {
      const sections = content.sections.map(({ title, rows }) => ({
        ...optional('title', title),
        rows: rows.map(({ id, title, description }) => ({ id, title, ...optional('description', description) })),
      }))
      const textHeader = header?.type === 'text' ? { header } : {}
      return { type: 'list', ...textHeader, ...frame, action: { button: content.button, sections } }
    }
    case 'cta_url':
      return { type: 'cta_url', ...withHeader(header), ...frame, action: toUrlAction(content) }
    case 'flow_offer':
      return {
        type: 'flow',
        ...withHeader(header),
        ...frame,
        action: { name: 'flow', parameters: toFlowParameters(content) },
      }
    case 'location_request':
      return { type: 'location_request_message', body, action: { name: 'send_location' } }
    case 'contact_request':
      return { type: 'request_contact_info', body, action: { name: 'request_contact_info' } }
    case 'address_request': {
      const { country, values, saved_addresses: saved } = content
      const parameters = { country, ...optional('values', values), ...(saved.length > 0 && { saved_addresses: saved }) }
      return { type: 'address_message', body, action: { name: 'address_message', parameters } }
    }
    case 'product_offer': {
      const { catalog_id, product_id, footer } = content
      const texts = { ...(body.text !== '' && { body }), ...optional('footer', toText(footer)) }
      return { type: 'product', ...texts, action: { catalog_id, product_retailer_id: product_id } }
    }
    case 'product_list': {
      const sections = toProductSections(content.sections)
      const title = { type: 'text' as const, text: header?.type === 'text' ? header.text : '' }
      return { type: 'product_list', header: title, ...frame, action: { catalog_id: content.catalog_id, sections } }
    }
    case 'catalog': {
      const { thumbnail_product_id: id } = content
      const thumbnail = id === null ? {} : { parameters: { thumbnail_product_retailer_id: id } }
      return { type: 'catalog_message', ...frame, action: { name: 'catalog_message', ...thumbnail } }
    }
    case 'carousel':
      return { type: 'carousel', body, action: { cards: content.cards.map(toCard) } }
  }
}

function toText(text: string | null): { text: string } | null {
  return text === null ? null : { text }
}

function withHeader(header: InteractiveHeader<UploadedFile> | null): { header?: wire.InteractiveHeader } {
  if (header === null) return {}
  return { header: header.type === 'text' ? header : toFileHeader(header) }
}

function toUrlAction({ display_text, url }: UrlButton): wire.UrlAction {
  return { name: 'cta_url', parameters: { display_text, url } }
}

function toFlowParameters({ flow_cta, screen, data, ...flow }: Flow): wire.FlowParameters {
  return {
    flow_message_version: '3',
    ...optional('flow_id', flow.flow_id),
    ...optional('flow_name', flow.flow_name),
    flow_cta,
    ...optional('flow_token', flow.flow_token),
    ...optional('mode', flow.mode),
    ...optional('flow_action', flow.flow_action),
    ...(screen !== null && { flow_action_payload: { screen, ...optional('data', data) } }),
  }
}

function toCard(card: Card, index: number): wire.CarouselCard {
  if (card.type === 'product') {
    const { catalog_id, product_id } = card
    return { card_index: index, type: 'product', action: { catalog_id, product_retailer_id: product_id } }
  }
  const { header_media: media } = card
  const link = { link: media.url }
  const header: wire.CardHeader =
    media.type === 'image' ? { type: 'image', image: link } : { type: 'video', video: link }
  const common = { card_index: index, type: 'cta_url' as const, header, ...optional('body', toText(card.body)) }
  if (card.type === 'cta_url') return { ...common, action: toUrlAction(card) }
  const buttons = card.buttons.map((choice) => ({ type: 'quick_reply' as const, quick_reply: choice }))
  return { ...common, action: { buttons } }
}
