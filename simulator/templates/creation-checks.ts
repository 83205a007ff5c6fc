import { asObject, asObjects, type JsonObject } from '../../src/lib/text/json.js'
import { TEMPLATE_LIMITS } from '../../src/upstream/template-limits.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { firstRefusal, isFilled, isLonger } from '../sending/content/checks.js'
import type { Template } from './template.js'
import { isNamedVariable, variablesOf } from './variables.js'

/** Whether a handle of an example file was given by an upload. */
export type KnowsHandle = (handle: string) => boolean

/** What the checks of a part depend on. */
interface Part {
  template: Pick<Template, 'category' | 'parameter_format'>
  components: JsonObject[]
  knowsHandle: KnowsHandle
}

const subcodes = { tooLong: 2388040, header: 2388047, body: 2388072, footer: 2388073, ratio: 2388293, edges: 2388299 }
const fileFormats = ['IMAGE', 'VIDEO', 'DOCUMENT']
/** Parts and buttons of marketing templates only. */
const ofMarketing = ['CAROUSEL', 'LIMITED_TIME_OFFER']
const buttonsOfMarketing = ['CATALOG', 'MPM', 'SPM']

/**
 * Refuses components that the upstream would not take for a new or edited template. Their structure was checked before
 * (components.ts).
 */
export function checkCreation(
  template: Pick<Template, 'category' | 'parameter_format' | 'components'>,
  knowsHandle: KnowsHandle,
): Refusal | null {
  const { category, components } = template
  const part: Part = { template, components, knowsHandle }
  if (category === 'AUTHENTICATION') return checkAuthentication(part)
  const strange = components.find(({ type }) => ofMarketing.includes(String(type)))
  if (strange && category !== 'MARKETING') {
    return malformed(`${strange.type} is possible in marketing templates only`)
  }
  return checkParts(part, TEMPLATE_LIMITS.body) ?? checkCarousel(part) ?? checkOffer(part)
}

function checkAuthentication({ components }: Part): Refusal | null {
  const { expiration } = TEMPLATE_LIMITS
  const other = components.find(({ type }) => !['BODY', 'FOOTER', 'BUTTONS'].includes(String(type)))
  if (other) return malformed(`${other.type} is not possible in authentication templates`)
  if (find(components, 'BODY').text !== undefined) return malformed('The text of an authentication template is fixed')
  const minutes = find(components, 'FOOTER').code_expiration_minutes
  if (minutes !== undefined && !(Number(minutes) >= expiration.least && Number(minutes) <= expiration.most)) {
    return malformed(`code_expiration_minutes must be from ${expiration.least} to ${expiration.most}`)
  }
  const buttons = asObjects(find(components, 'BUTTONS').buttons)
  if (buttons.length !== 1 || buttons[0]?.type !== 'OTP')
    return malformed('An authentication template has one OTP button')
  return null
}

function checkParts(part: Part, maxBody: number): Refusal | null {
  return checkHeader(part) ?? checkBody(part, maxBody) ?? checkFooter(part) ?? checkButtons(part)
}

function checkHeader({ components, template, knowsHandle }: Part): Refusal | null {
  const { format, text, example } = find(components, 'HEADER')
  if (format === undefined) return null
  if (format === 'TEXT') {
    if (!isFilled(text)) return malformed('The header has no text', subcodes.header)
    if (isLonger(text, TEMPLATE_LIMITS.header)) return tooLong('header', TEMPLATE_LIMITS.header)
    if (text.includes('\n')) return malformed("The header can't have new lines", subcodes.header)
    return checkVariables(text, template, exampleNames(asObject(example), 'header_text', template))
  }
  if (!fileFormats.includes(String(format))) return null
  const handles = asObject(example).header_handle
  const [handle] = Array.isArray(handles) ? handles : []
  if (isFilled(handle) && knowsHandle(handle)) return null
  return malformed(`The header needs the handle of an example ${String(format).toLowerCase()}`, subcodes.header)
}

function checkBody({ components, template }: Part, max: number): Refusal | null {
  const { text, example } = find(components, 'BODY')
  if (text === undefined && !components.some(({ type }) => type === 'BODY')) return null
  if (!isFilled(text)) return malformed('The body has no text', subcodes.body)
  if (isLonger(text, max)) return tooLong('body', max)
  if (/^\s*\{\{|\}\}\s*$/.test(text)) {
    return malformed("Variables can't be at the start or end of the template", subcodes.edges)
  }
  const variables = variablesOf(text)
  const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word.replace(/\{\{.*?\}\}/g, '')))
  // An assumption: the upstream does not document how many words a variable needs.
  if (words.length < variables.length) {
    return malformed('This template has too many variables for its length', subcodes.ratio)
  }
  return checkVariables(text, template, exampleNames(asObject(example), 'body_text', template))
}

/** The variables that have an example; of positional ones their numbers. */
function exampleNames(
  example: JsonObject,
  field: 'header_text' | 'body_text',
  { parameter_format: format }: Part['template'],
): string[] {
  if (format === 'NAMED') {
    return asObjects(example[`${field}_named_params`]).flatMap(({ param_name: name, example: value }) =>
      isFilled(name) && isFilled(value) ? [name] : [],
    )
  }
  const given: unknown[] = Array.isArray(example[field]) ? (example[field] as unknown[]) : []
  const [values] = given
  return (Array.isArray(values) ? values : given).flatMap((value, index) =>
    isFilled(value) ? [String(index + 1)] : [],
  )
}

function checkVariables(text: string, { parameter_format: format }: Part['template'], known: string[]): Refusal | null {
  const variables = variablesOf(text)
  if (/\{\{|\}\}/.test(text.replace(/\{\{[a-z0-9_]+\}\}/g, ''))) return malformed('Variables have mismatched braces')
  if (variables.some((name) => isNamedVariable(name) !== (format === 'NAMED'))) {
    return malformed(`A template of the format ${format} has another kind of variables`)
  }
  if (format === 'POSITIONAL' && variables.some((name, index) => name !== String(index + 1))) {
    return malformed('Variables must be numbered from 1 in order')
  }
  const without = variables.find((name) => !known.includes(name))
  return without === undefined ? null : malformed(`The variable {{${without}}} has no example`)
}

function checkFooter({ components }: Part): Refusal | null {
  const { text } = find(components, 'FOOTER')
  if (text === undefined) return null
  if (!isFilled(text)) return malformed('The footer has no text', subcodes.footer)
  if (isLonger(text, TEMPLATE_LIMITS.footer)) return tooLong('footer', TEMPLATE_LIMITS.footer)
  const isPlain = variablesOf(text).length === 0 && !text.includes('\n')
  return isPlain ? null : malformed("The footer can't have variables or new lines", subcodes.footer)
}

function checkButtons({ components, template }: Part): Refusal | null {
  const buttons = asObjects(find(components, 'BUTTONS').buttons)
  const runs = buttons.filter(({ type }, index) => type === 'QUICK_REPLY' && buttons[index - 1]?.type !== type).length
  const edges = [buttons[0], buttons.at(-1)]
  if (runs > 1 || (runs === 1 && !edges.some((button) => button?.type === 'QUICK_REPLY'))) {
    return malformed('Quick reply buttons are not together: this combination of buttons is invalid')
  }
  const count = (wanted: string) => buttons.filter(({ type }) => type === wanted).length
  if (count('URL') > TEMPLATE_LIMITS.urls)
    return malformed(`A template has at most ${TEMPLATE_LIMITS.urls} URL buttons`)
  const single = ['PHONE_NUMBER', 'COPY_CODE'].find((type) => count(type) > 1)
  if (single !== undefined) return malformed(`A template has at most one ${single} button`)
  return firstRefusal(buttons, (button) => checkButton(button, template))
}

function checkButton(button: JsonObject, { category }: Part['template']): Refusal | null {
  const { type, url, example, phone_number: phoneNumber } = button
  if (type === 'OTP') return malformed('OTP buttons are possible in authentication templates only')
  if (buttonsOfMarketing.includes(String(type)) && category !== 'MARKETING') {
    return malformed(`${type} buttons are possible in marketing templates only`)
  }
  if (type === 'URL' && variablesOf(url).length > 0 && !(Array.isArray(example) && example.every(isFilled))) {
    return malformed('The URL of a button has a variable without an example')
  }
  if (type === 'PHONE_NUMBER' && (!isFilled(phoneNumber) || isLonger(phoneNumber, TEMPLATE_LIMITS.phoneNumber))) {
    return malformed('A PHONE_NUMBER button needs a phone_number of at most 20 characters')
  }
  const [code] = Array.isArray(example) ? example : [example]
  if (type === 'COPY_CODE' && (!isFilled(code) || isLonger(code, TEMPLATE_LIMITS.code))) {
    return malformed('A COPY_CODE button needs an example of at most 20 characters')
  }
  if (
    type === 'FLOW' &&
    ['flow_id', 'flow_name', 'flow_json'].filter((name) => button[name] !== undefined).length !== 1
  ) {
    return malformed('A FLOW button needs one of flow_id, flow_name and flow_json')
  }
  return null
}

function checkCarousel(part: Part): Refusal | null {
  if (!part.components.some(({ type }) => type === 'CAROUSEL')) return null
  const { least, most, body } = TEMPLATE_LIMITS.carousel
  const cards = asObjects(find(part.components, 'CAROUSEL').cards).map((card) => asObjects(card.components))
  if (cards.length < least || cards.length > most) return malformed(`A carousel has ${least} to ${most} cards`)
  const kinds = cards.map((components) => components.map(({ type, format }) => `${type} ${format}`).join())
  if (new Set(kinds).size > 1) return malformed('All cards of a carousel have the same components')
  return firstRefusal(cards, (components) => {
    if (find(components, 'HEADER').format === undefined) return malformed('A card of a carousel needs a header')
    return checkParts({ ...part, components }, body)
  })
}

function checkOffer({ components }: Part): Refusal | null {
  const offer = components.find(({ type }) => type === 'LIMITED_TIME_OFFER')
  if (!offer) return null
  const { text } = asObject(offer.limited_time_offer)
  const { offer: limits } = TEMPLATE_LIMITS
  if (!isFilled(text) || isLonger(text, limits.text)) return tooLong('limited_time_offer.text', limits.text)
  if (isLonger(String(find(components, 'BODY').text), limits.body)) return tooLong('body', limits.body)
  return components.some(({ type }) => type === 'FOOTER') ? malformed('A limited-time offer has no footer') : null
}

function find(components: JsonObject[], wanted: string): JsonObject {
  return components.find(({ type }) => type === wanted) ?? {}
}

function malformed(text: string, subcode?: number): Refusal {
  return refusals.template('Message template is malformed', text, subcode)
}

function tooLong(what: string, limit: number): Refusal {
  return refusals.template(
    'Character limit exceeded',
    `The ${what} must have at most ${limit} characters`,
    subcodes.tooLong,
  )
}
