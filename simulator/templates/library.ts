import { asObject, asObjects, type JsonObject } from '../../src/lib/text/json.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { isFilled } from '../sending/content/checks.js'
import { library } from './library-samples.js'
import type { Template } from './template.js'
import { variablesOf } from './variables.js'

/**
 * The content of a template that is created from the library. Each URL and phone number button of the library needs an
 * input.
 */
export function createFromLibrary(
  body: JsonObject,
): Pick<Template, 'components' | 'parameter_format' | 'library_template_name'> | Refusal {
  const { library_template_name: name, language } = body
  const known = library.find((one) => one.name === name && one.language === language)
  if (!known) return refused(`The library has no template ${name} in ${language}`)
  if (body.components !== undefined) return refused('A template of the library has no components of its own')
  if (String(body.category).toUpperCase() !== known.category) {
    return refused(`The template ${name} of the library has the category ${known.category}`)
  }
  const inputs = asObjects(body.library_template_button_inputs)
  const buttons = known.buttons.map((button, index) => withInput(button, asObject(inputs[index])))
  const missing = buttons.indexOf(null)
  if (missing >= 0) return refused(`library_template_button_inputs lacks the button ${missing}`)
  const variables = variablesOf(known.body)
  const example = variables.length > 0 ? { example: { body_text: [known.body_params] } } : {}
  const components: JsonObject[] = [
    ...(known.header === undefined ? [] : [{ type: 'HEADER', format: 'TEXT', text: known.header }]),
    { type: 'BODY', text: known.body, ...example },
    ...(buttons.length === 0 ? [] : [{ type: 'BUTTONS', buttons }]),
  ]
  return { components, parameter_format: 'POSITIONAL', library_template_name: known.name }
}

/** A button with its input; null if that is missing. */
function withInput(button: JsonObject, input: JsonObject): JsonObject | null {
  if (button.type === 'PHONE_NUMBER') {
    const { phone_number: number } = input
    return input.type === 'PHONE_NUMBER' && isFilled(number) ? { ...button, phone_number: number } : null
  }
  if (button.type !== 'URL') return button
  const { base_url: url, url_suffix_example: example } = asObject(input.url)
  if (input.type !== 'URL' || !isFilled(url)) return null
  if (variablesOf(url).length === 0) return { ...button, url }
  return isFilled(example) ? { ...button, url, example: [example] } : null
}

function refused(text: string): Refusal {
  return refusals.template('Invalid parameter', text)
}
