import { asObject, asObjects, asText, isJsonObject, type JsonObject } from '../../../lib/text/json.js'

/**
 * The content of an interactive message, as Parley stores it, from the body with which another one sent it: the reverse
 * of `toInteractive` in channels/business-interactive. Values are taken as they are, because content is untrusted when
 * it is shown. Null if it has no type.
 */
export function readSentInteractive(interactive: JsonObject): JsonObject | null {
  const { type, header, body, footer } = interactive
  const kind = asText(type)
  if (kind === null) return null
  const frame = { header: textOf(header), body: textOf(body), footer: textOf(footer) }
  return { ...frame, ...readAction(kind, asObject(interactive.action)) }
}

/** What is sent under the word of its answer is stored under one of its own. */
function readAction(type: string, action: JsonObject): JsonObject {
  const parameters = asObject(action.parameters)
  const { catalog_id } = action
  switch (type) {
    case 'button':
      return { type, buttons: asObjects(action.buttons).map(({ reply }) => asObject(reply)) }
    case 'list':
      return { type, button: action.button, sections: action.sections }
    case 'cta_url':
      return { type, ...readLink(parameters) }
    case 'flow':
      return { type: 'flow_offer', ...readFlow(parameters) }
    case 'location_request_message':
      return { type: 'location_request' }
    case 'request_contact_info':
      return { type: 'contact_request' }
    case 'address_message': {
      const { country, values, saved_addresses } = parameters
      return { type: 'address_request', country, values, saved_addresses }
    }
    case 'product':
      return { type: 'product_offer', catalog_id, product_id: action.product_retailer_id }
    case 'product_list':
      return { type, catalog_id, sections: asObjects(action.sections).map(readProducts) }
    case 'catalog_message':
      return { type: 'catalog', thumbnail_product_id: parameters.thumbnail_product_retailer_id }
    case 'carousel':
      return { type, cards: asObjects(action.cards).map(readCard) }
    default:
      return { type }
  }
}

function readLink({ display_text, url }: JsonObject): JsonObject {
  return { display_text, url }
}

function readFlow({ flow_id, flow_name, flow_cta, flow_token, mode, ...rest }: JsonObject): JsonObject {
  const { screen, data } = asObject(rest.flow_action_payload)
  return { flow_id, flow_name, flow_cta, flow_token, mode, flow_action: rest.flow_action, screen, data }
}

function readProducts({ title, product_items }: JsonObject): JsonObject {
  return { title, product_ids: asObjects(product_items).map(({ product_retailer_id }) => product_retailer_id) }
}

function readCard({ type, header, body, action }: JsonObject): JsonObject {
  const { catalog_id, product_retailer_id, buttons, parameters } = asObject(action)
  if (type === 'product') return { type, catalog_id, product_id: product_retailer_id }
  const media = asObject(header)
  const file = asObject(media[asText(media.type) ?? ''])
  const common = {
    header_media: isJsonObject(header) ? { type: media.type, url: file.link } : null,
    body: textOf(body),
  }
  if (buttons === undefined) return { type: 'cta_url', ...common, ...readLink(asObject(parameters)) }
  return { type: 'button', ...common, buttons: asObjects(buttons).map(({ quick_reply }) => asObject(quick_reply)) }
}

function textOf(part: unknown): string | null {
  return asText(asObject(part).text)
}
