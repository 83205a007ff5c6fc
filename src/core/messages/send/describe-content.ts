import { asObject, asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import type {
  ContentWith,
  FilledCard,
  FilledParts,
  FilledTemplate,
  InteractiveHeader,
  RawTemplate,
  TemplateContent,
} from '../../../model/messages/content.js'
import { describeInbound, type MessageDescription } from '../../../model/messages/describe-inbound.js'

/** Text, media type and content of an outgoing message, in the same form as those of received messages. */
export function describeContent(message: ContentWith<unknown>): MessageDescription {
  switch (message.type) {
    case 'text':
      return {
        text: message.text,
        media_type: null,
        content: message.mentions?.length ? { mentions: message.mentions } : null,
      }
    case 'image':
    case 'video':
      return { text: message.caption ?? '', media_type: message.type, content: null }
    case 'audio':
      return { text: '', media_type: 'audio', content: message.voice ? { voice: true } : null }
    case 'sticker':
      return { text: '[sticker]', media_type: 'image', content: null }
    case 'document': {
      const { filename } = message
      return { text: message.caption ?? '', media_type: 'document', content: filename === null ? null : { filename } }
    }
    case 'location': {
      const { latitude, longitude, name, address } = message
      return describeInbound('location', { location: { latitude, longitude, name, address } })
    }
    case 'contacts':
      return describeInbound('contacts', { contacts: message.contacts })
    case 'interactive': {
      const { interactive, header } = message
      return {
        text: interactive.body,
        media_type: 'interactive',
        content: { ...interactive, ...(header && describeHeader(header)) },
      }
    }
    case 'reaction':
      return {
        text: message.emoji,
        media_type: null,
        content: message.toOwn === undefined ? null : { to_own: message.toOwn },
      }
    case 'poll': {
      const { name, options, selectableCount } = message
      return { text: name, media_type: null, content: { name, options, selectable_count: selectableCount } }
    }
    case 'raw_template': {
      const { name, language, components, text } = message
      const parameters = describeComponents(components)
      return { text, media_type: null, content: { name, language, components, parameters } }
    }
    case 'template': {
      const { template, header } = message
      return { text: template.body.text, media_type: header?.type ?? null, content: describeTemplate(message) }
    }
  }
}

/** The name and MIME type of a file are added when it is uploaded. */
function describeHeader(header: InteractiveHeader<unknown>) {
  return header.type === 'text' ? { header: header.text } : { header_type: header.type }
}

/** All parts of a template except its body. */
function describeTemplate({ template, header: file, parts }: TemplateContent<unknown>) {
  const { name, language, header, footer, buttons } = template
  return {
    name,
    language,
    ...(header?.type === 'text' ? { header: header.text } : {}),
    ...describePlace(header),
    ...(file?.filename ? { filename: file.filename } : {}),
    footer,
    buttons: buttons.map(({ kind, text }) => ({ type: kind, text })),
    parameters: describeParameters(template),
    ...(parts === undefined ? {} : describeParts(parts)),
  }
}

/** The parts that the message has; files of cards by their addresses, which the upstream fetches. */
function describeParts({ headerProduct, offerEndsAt, buttons, cards }: FilledParts) {
  const flow = buttons.find((button) => button.kind === 'flow')
  const goods = buttons.find((button) => button.kind !== 'flow')
  return {
    ...(headerProduct && { product: headerProduct }),
    ...(offerEndsAt && { offer_ends_at: offerEndsAt }),
    ...(goods?.kind === 'products' && { sections: goods.sections }),
    ...(goods?.thumbnailProductId && { thumbnail_product_id: goods.thumbnailProductId }),
    ...(flow && { flow: { token: flow.token, data: flow.data } }),
    ...(cards.length > 0 && { cards: cards.map(describeCard) }),
  }
}

function describeCard({ template, header, product }: FilledCard) {
  return {
    header_media: header,
    product,
    body: template.body.text,
    buttons: template.buttons.map(({ kind, text }) => ({ type: kind, text })),
    parameters: describeParameters(template),
  }
}

function describePlace(header: FilledTemplate['header']) {
  if (header?.type !== 'location') return {}
  const { type: _, ...location } = header
  return { location }
}

/** The values of a template, in the order in which they are shown. */
function describeParameters({ header, body, buttons }: FilledTemplate) {
  const ofHeader = header?.type === 'text' ? header.parameters : []
  return [
    ...ofHeader.map(({ name, text }) => ({ component: 'header', name, text })),
    ...body.parameters.map(({ name, text }) => ({ component: 'body', name, text })),
    ...buttons.flatMap(({ index, parameter }) =>
      parameter === null ? [] : [{ component: 'button', index, name: null, text: parameter }],
    ),
  ]
}

/** The values of a template in the upstream's format, as texts. */
function describeComponents(components: RawTemplate['components']) {
  return components.flatMap(({ type, index, parameters }) =>
    asObjects(parameters).flatMap((parameter) => {
      const text = readValue(parameter)
      const component = asText(type)?.toLowerCase() ?? null
      const name = asText(parameter.parameter_name)
      return text === null ? [] : [{ component, ...(index !== undefined && { index }), name, text }]
    }),
  )
}

function readValue({ text, payload, coupon_code, currency, date_time }: JsonObject): string | null {
  const fallback = asObject(currency ?? date_time).fallback_value
  return asText(text) ?? asText(payload) ?? asText(coupon_code) ?? asText(fallback)
}
