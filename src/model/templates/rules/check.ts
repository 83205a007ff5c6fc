import { asText, type JsonObject } from '../../../lib/text/json.js'
import { TEMPLATE_LANGUAGES, TEMPLATE_LIMITS } from '../../../upstream/template-limits.js'
import { checkAuthentication } from './authentication.js'
import { checkButtons } from './buttons.js'
import { checkCarousel, checkOffer } from './cards.js'
import { CATEGORIES, type TemplateDraft } from './draft.js'
import { checkLength, checkWhole, fault, type TemplateFault } from './faults.js'
import { checkBody, checkFooter, checkHeader, type Part, partsOf } from './texts.js'

const TYPES = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL', 'LIMITED_TIME_OFFER', 'CALL_PERMISSION_REQUEST']
const OF_MARKETING = ['CAROUSEL', 'LIMITED_TIME_OFFER']
const OFFER_BUTTONS = { codeLimit: TEMPLATE_LIMITS.offer.code }

/** What the upstream would not take of a new template, in the order of its fields; empty if nothing is wrong. */
export function checkTemplate(draft: TemplateDraft): TemplateFault[] {
  return [...checkKey(draft), ...checkCategory(draft), ...checkTimeToLive(draft), ...checkComponents(draft)]
}

/** The faults of what a template is known by. */
export function checkKey({ name, language }: Pick<TemplateDraft, 'name' | 'language'>): TemplateFault[] {
  const length = checkLength('name', name, TEMPLATE_LIMITS.name)
  return [
    ...length,
    ...(length.length > 0 || /^[a-z0-9_]+$/.test(name) ? [] : [fault('name', 'template_name', {})]),
    ...(TEMPLATE_LANGUAGES.includes(language) ? [] : [fault('language', 'template_language', { given: language })]),
  ]
}

function checkCategory({ category }: TemplateDraft): TemplateFault[] {
  const isKnown = CATEGORIES.some((known) => known === category)
  return isKnown ? [] : [fault('category', 'one_of', { names: CATEGORIES.join(', ') })]
}

function checkTimeToLive({ category, message_send_ttl_seconds: seconds }: TemplateDraft): TemplateFault[] {
  const limits = CATEGORIES.flatMap((known) => (known === category ? [TEMPLATE_LIMITS.timeToLive[known]] : []))[0]
  if (seconds === null || limits === undefined || (seconds === -1 && limits.orMonth)) return []
  return checkWhole('message_send_ttl_seconds', seconds, limits)
}

/** The faults of the components, which are replaced as a whole by an edit. */
export function checkComponents(draft: TemplateDraft): TemplateFault[] {
  const parts = partsOf('components', draft.components)
  const strange = parts.find(({ component }) => !TYPES.includes(asText(component.type) ?? ''))
  if (strange) return [fault(`${strange.path}.type`, 'one_of', { names: TYPES.join(', ') })]
  const types = parts.map(({ component }) => String(component.type))
  const twice = types.find((type, index) => types.indexOf(type) !== index)
  if (twice !== undefined) {
    const given = types.filter((type) => type === twice).length
    return [fault('components', 'kind_at_most', { kind: twice, limit: 1, given })]
  }
  if (!types.includes('BODY')) return [fault('components', 'must_have', { kind: 'BODY' })]
  if (draft.category === 'AUTHENTICATION') return checkAuthentication(draft)
  return parts.flatMap((part) => checkPart(part, draft))
}

function checkPart(part: Part, draft: TemplateDraft): TemplateFault[] {
  const { path, component } = part
  const { category, components } = draft
  const type = String(component.type)
  if (OF_MARKETING.includes(type) && category !== 'MARKETING') {
    return [fault(`${path}.type`, 'not_in_category', { category })]
  }
  const has = (wanted: string) => components.some((one) => one.type === wanted)
  switch (type) {
    case 'HEADER':
      return checkHeader(part, draft)
    case 'BODY':
      return checkBody(part, draft, bodyLimit(components))
    case 'FOOTER':
      return checkFooter(part)
    case 'BUTTONS':
      return checkButtons(part, draft, has('LIMITED_TIME_OFFER') ? OFFER_BUTTONS : {})
    case 'CAROUSEL':
      return checkCarousel(part, draft)
    case 'LIMITED_TIME_OFFER':
      return checkOffer(part, draft)
    default:
      return has('BUTTONS') ? [fault(path, 'not_together', { other: 'BUTTONS' })] : []
  }
}

function bodyLimit(components: readonly JsonObject[]): number {
  if (components.some(({ type }) => type === 'LIMITED_TIME_OFFER')) return TEMPLATE_LIMITS.offer.body
  const hasProduct = components.some(({ type, format }) => type === 'HEADER' && format === 'PRODUCT')
  return hasProduct ? TEMPLATE_LIMITS.productBody : TEMPLATE_LIMITS.body
}
