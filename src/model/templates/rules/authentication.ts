import { asObject, asObjects, asText } from '../../../lib/text/json.js'
import { TEMPLATE_LIMITS } from '../../../upstream/template-limits.js'
import type { TemplateDraft } from './draft.js'
import { checkLength, checkWhole, fault, type TemplateFault } from './faults.js'
import { type Part, partsOf } from './texts.js'

const PARTS = ['BODY', 'FOOTER', 'BUTTONS']
const OTP_TYPES = ['COPY_CODE', 'ONE_TAP', 'ZERO_TAP']

/** The faults of the parts of an authentication template, whose texts the upstream writes. */
export function checkAuthentication({ components, category }: TemplateDraft): TemplateFault[] {
  return partsOf('components', components).flatMap((part) => {
    const { path, component } = part
    const type = String(component.type)
    if (!PARTS.includes(type)) return [fault(`${path}.type`, 'not_in_category', { category })]
    if (type === 'BUTTONS') return checkCodeButton(part)
    if (component.text !== undefined) return [fault(`${path}.text`, 'not_in_category', { category })]
    if (type === 'BODY' || component.code_expiration_minutes === undefined) return []
    return checkWhole(`${path}.code_expiration_minutes`, component.code_expiration_minutes, TEMPLATE_LIMITS.expiration)
  })
}

function checkCodeButton({ path, component }: Part): TemplateFault[] {
  const [button, ...more] = asObjects(component.buttons)
  if (button?.type !== 'OTP' || more.length > 0) return [fault(`${path}.buttons`, 'just_one_of', { names: 'OTP' })]
  const at = `${path}.buttons[0]`
  const type = asText(button.otp_type)?.toUpperCase() ?? ''
  if (!OTP_TYPES.includes(type)) return [fault(`${at}.otp_type`, 'one_of', { names: OTP_TYPES.join(', ') })]
  const apps = asObjects(button.supported_apps)
  const needsApp = type !== 'COPY_CODE' && !apps.some((app) => asText(asObject(app).package_name) !== null)
  return [
    ...(button.text === undefined ? [] : checkLength(`${at}.text`, button.text, TEMPLATE_LIMITS.button)),
    ...(needsApp ? [fault(`${at}.supported_apps`, 'items_at_least', { limit: 1 })] : []),
  ]
}
