import { asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import { TEMPLATE_LIMITS } from '../../../upstream/template-limits.js'
import type { TemplateDraft } from './draft.js'
import { checkLength, checkWhole, fault, type TemplateFault } from './faults.js'
import { type Part, partsOf } from './texts.js'
import { namesIn } from './variables.js'

/** The possible types, and the category that they belong to if it is one alone. */
const TYPES: Record<string, { only?: string; never?: string }> = {
  QUICK_REPLY: {},
  URL: {},
  PHONE_NUMBER: {},
  COPY_CODE: {},
  FLOW: {},
  VOICE_CALL: {},
  CATALOG: { only: 'MARKETING' },
  MPM: { only: 'MARKETING' },
  SPM: { only: 'MARKETING' },
  ORDER_DETAILS: {},
  REQUEST_CONTACT_INFO: { never: 'AUTHENTICATION' },
}
const FLOWS = ['flow_id', 'flow_name', 'flow_json']

/** The faults of the buttons of a template or a card, of which there may be `most`. */
export function checkButtons(
  { path, component }: Part,
  draft: TemplateDraft,
  { most = TEMPLATE_LIMITS.buttons as number, codeLimit = TEMPLATE_LIMITS.code as number } = {},
): TemplateFault[] {
  const field = `${path}.buttons`
  const given: unknown[] = Array.isArray(component.buttons) ? component.buttons : []
  const buttons = asObjects(given)
  if (buttons.length === 0 || buttons.length < given.length) return [fault(field, 'items_at_least', { limit: 1 })]
  if (buttons.length > most) return [fault(field, 'items_at_most', { limit: most, given: buttons.length })]
  return [
    ...partsOf(field, buttons).flatMap((button) => checkButton(button, draft, codeLimit)),
    ...checkCounts(field, buttons),
    ...checkOrder(field, buttons),
  ]
}

function checkCounts(field: string, buttons: JsonObject[]): TemplateFault[] {
  const limits = { URL: TEMPLATE_LIMITS.urls, PHONE_NUMBER: 1, COPY_CODE: 1, VOICE_CALL: 1, CATALOG: 1, MPM: 1 }
  return Object.entries(limits).flatMap(([kind, limit]) => {
    const given = buttons.filter(({ type }) => type === kind).length
    return given > limit ? [fault(field, 'kind_at_most', { kind, limit, given })] : []
  })
}

/** Quick replies are one group, before or after the others. */
function checkOrder(field: string, buttons: JsonObject[]): TemplateFault[] {
  const changes = buttons.filter(({ type }, index) => {
    const before = buttons[index - 1]
    return before !== undefined && (type === 'QUICK_REPLY') !== (before.type === 'QUICK_REPLY')
  })
  return changes.length > 1 ? [fault(field, 'buttons_apart', {})] : []
}

function checkButton(
  { path, component: button }: Part,
  { category }: TemplateDraft,
  codeLimit: number,
): TemplateFault[] {
  const type = asText(button.type) ?? ''
  const rule = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined
  if (rule === undefined) return [fault(`${path}.type`, 'one_of', { names: Object.keys(TYPES).join(', ') })]
  if ((rule.only !== undefined && rule.only !== category) || rule.never === category) {
    return [fault(`${path}.type`, 'not_in_category', { category })]
  }
  const text = (limit: number) => checkLength(`${path}.text`, button.text, limit)
  switch (type) {
    case 'QUICK_REPLY':
      return text(TEMPLATE_LIMITS.button)
    case 'URL':
      return [...text(TEMPLATE_LIMITS.button), ...checkUrl(path, button)]
    case 'PHONE_NUMBER':
      return [
        ...text(TEMPLATE_LIMITS.button),
        ...checkLength(`${path}.phone_number`, button.phone_number, TEMPLATE_LIMITS.phoneNumber),
      ]
    case 'COPY_CODE':
      return checkLength(`${path}.example`, firstOf(button.example), codeLimit)
    case 'FLOW':
      return [...text(TEMPLATE_LIMITS.button), ...checkFlow(path, button)]
    case 'VOICE_CALL':
      return [...text(TEMPLATE_LIMITS.voiceCall.text), ...checkCall(path, button)]
    default:
      return []
  }
}

function checkUrl(path: string, { url, example }: JsonObject): TemplateFault[] {
  const wrong = checkLength(`${path}.url`, url, TEMPLATE_LIMITS.url)
  if (wrong.length > 0) return wrong
  const text = String(url)
  const fixed = text.replace(/\{\{1\}\}$/, '')
  if (!/^https?:\/\/[^\s{}]+$/.test(fixed) || !URL.canParse(fixed)) {
    return [fault(`${path}.url`, 'button_url', { example: 'https://example.com/{{1}}' })]
  }
  if (namesIn(text).length === 0 || asText(firstOf(example)) !== null) return []
  return [fault(`${path}.example`, 'example', { given: '{{1}}' })]
}

function checkFlow(path: string, button: JsonObject): TemplateFault[] {
  const given = FLOWS.filter((name) => asText(button[name]) !== null)
  return given.length === 1 ? [] : [fault(path, 'just_one_of', { names: FLOWS.join(', ') })]
}

function checkCall(path: string, { ttl_minutes: minutes }: JsonObject): TemplateFault[] {
  if (minutes === undefined) return []
  const { leastMinutes: least, mostMinutes: most } = TEMPLATE_LIMITS.voiceCall
  return checkWhole(`${path}.ttl_minutes`, minutes, { least, most })
}

/** The upstream takes an example, and a list with it. */
function firstOf(example: unknown): unknown {
  return Array.isArray(example) ? (example[0] as unknown) : example
}
