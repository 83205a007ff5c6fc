import { asObjects, asText, type JsonObject } from '../../lib/text/json.js'
import { Problem } from '../../model/problem.js'

/**
 * The parts of an authentication template as they are given to create one. The upstream lists them with the texts that
 * it has written in the template's language, and its button as a URL. Throws missing_field for a button that fills the
 * code in, whose apps are not listed.
 */
export function restoreAuthentication(components: readonly JsonObject[]): JsonObject[] {
  return components.map(({ text: _text, example: _example, ...component }) =>
    component.type === 'BUTTONS'
      ? { ...component, buttons: asObjects(component.buttons).map(restoreButton) }
      : component,
  )
}

function restoreButton(button: JsonObject): JsonObject {
  if (button.type === 'OTP') return button
  // Without a text, the upstream writes the one of the language.
  if (/[?&]otp_type=COPY_CODE(&|$)/i.test(asText(button.url) ?? '')) return { type: 'OTP', otp_type: 'COPY_CODE' }
  const message =
    'components is required: the button of this authentication template fills the code in, and WhatsApp does not list for which apps'
  throw new Problem('missing_field', message)
}
