import { asObject, asObjects, type JsonObject } from '../../src/lib/text/json.js'
import { TEMPLATE_LIMITS } from '../../src/upstream/template-limits.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { readComponents, readParts } from './components.js'
import { checkCreation } from './creation-checks.js'
import type { Examples } from './examples.js'
import { complaintAboutKey, readFormat, type Template } from './template.js'

/** What a template is known by, from the body of a creation; its category in upper case. */
export function readKey(body: JsonObject): Pick<Template, 'name' | 'language' | 'category'> | Refusal {
  const { name, language } = body
  const category = String(body.category ?? '').toUpperCase()
  const complaint = complaintAboutKey({ name, language, category })
  return complaint === null ? { name: String(name), language: String(language), category } : invalid(complaint)
}

/** The content of a new or edited template of a category; or the refusal. */
export function readContent(
  body: JsonObject,
  category: string,
  examples: Examples,
): Pick<Template, 'components' | 'parameter_format'> | Refusal {
  const given = body.components
  const components = category === 'AUTHENTICATION' ? readParts(given) : readComponents(given)
  if (typeof components === 'string') return invalid(components)
  const format = readFormat(String(body.parameter_format ?? 'POSITIONAL').toUpperCase(), components)
  if (typeof format !== 'string') return invalid(format.message)
  const refusal = checkCreation({ category, parameter_format: format, components }, (handle) => examples.has(handle))
  if (refusal) return refusal
  return { components: category === 'AUTHENTICATION' ? writtenOut(components) : components, parameter_format: format }
}

/** Refuses a time to live that the category does not have. */
export function checkTimeToLive({ message_send_ttl_seconds: seconds }: JsonObject, category: string): Refusal | null {
  const limits = Object.entries(TEMPLATE_LIMITS.timeToLive).find(([name]) => name === category)?.[1]
  if (seconds === undefined || !limits) return null
  const isMonth = seconds === -1 && limits.orMonth
  if (isMonth || (Number.isInteger(seconds) && Number(seconds) >= limits.least && Number(seconds) <= limits.most)) {
    return null
  }
  return invalid(`message_send_ttl_seconds must be from ${limits.least} to ${limits.most} in ${category} templates`)
}

/** An authentication template as the list shows it: with its fixed text, and a URL in place of the OTP button. */
function writtenOut(components: JsonObject[]): JsonObject[] {
  return components.map((component) => {
    if (component.type === 'BODY') {
      const example = { body_text: [['123456']] }
      return { ...component, text: '*{{1}}* is your verification code.', example }
    }
    if (component.type === 'FOOTER') {
      return { ...component, text: `This code expires in ${String(component.code_expiration_minutes)} minutes.` }
    }
    if (component.type !== 'BUTTONS') return component
    const [button] = asObjects(component.buttons)
    const { otp_type: type, text = 'Copy code' } = asObject(button)
    const url = `https://www.whatsapp.com/otp/code/?otp_type=${String(type ?? 'COPY_CODE')}&code=otp{{1}}`
    return { ...component, buttons: [{ type: 'URL', text, url, example: [url.replace('{{1}}', '123456')] }] }
  })
}

function invalid(text: string): Refusal {
  return refusals.template('Invalid parameter', text)
}
