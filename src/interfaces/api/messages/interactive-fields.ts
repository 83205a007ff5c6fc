import { Type } from 'typebox'
import { Maybe, RequiredList, RequiredText } from '../../../model/fields.js'
import { LIMITS } from '../../../model/messages/limits.js'
import { Problem } from '../../../model/problem.js'
import { uploadedId } from './given-file.js'

/** The text of an interactive message. */
export const body = RequiredText(LIMITS.body)

export const header = Maybe(Type.String({ maxLength: LIMITS.header }))

export const footer = Maybe(Type.String({ maxLength: LIMITS.footer }))

export const filename = Maybe(Type.String({ maxLength: LIMITS.filename, description: 'The name that is shown' }))

/** The file of a message that may have a text or a file above its body. */
export const headerMedia = Maybe(
  Type.Object(
    {
      type: Type.Enum(['image', 'video', 'document'], { 'x-missing': true }),
      url: Maybe(Type.String({ maxLength: LIMITS.url, description: 'Publicly accessible URL of the file' })),
      id: uploadedId('url'),
      filename,
    },
    { description: 'A file above the body, instead of header' },
  ),
)

/** An address that the upstream or the recipient's phone opens. */
export const WebAddress = Type.String({
  minLength: 1,
  maxLength: LIMITS.url,
  format: 'web-address',
  description: 'An http or https address',
  'x-missing': true,
})

/** The button that opens an address. */
export const urlButton = { display_text: RequiredText(LIMITS.title, "The button's text"), url: WebAddress }

/** Buttons that answer the message. */
export const choices = RequiredList(
  Type.Object({ id: RequiredText(LIMITS.buttonId), title: RequiredText(LIMITS.title) }),
  LIMITS.buttons,
)

/** The longest id of a catalogue or a product. */
const MAX_ID = 100

export const catalogId = RequiredText(MAX_ID, "The catalogue that is connected to the number's business account")

export const ProductId = RequiredText(MAX_ID, "The product's id in the catalogue (its retailer id)")

/** A section of products; `description`: when its title is required. */
export const productSection = (description: string) =>
  Type.Object({
    title: Maybe(Type.String({ maxLength: LIMITS.sectionTitle, description })),
    product_ids: RequiredList(ProductId, LIMITS.products),
  })

/** Own limits of forms: the upstream names none. */
const MAX_TOKEN = 512
/** Maximum length of the data of a form as JSON. */
const MAX_DATA = 16_384

export const formToken = Maybe(Type.String({ maxLength: MAX_TOKEN, description: 'Comes back with the answer' }))

export const formData = Maybe(
  Type.Record(Type.String(), Type.Unknown(), {
    description: `What the first screen shows; at most ${MAX_DATA} characters as JSON`,
  }),
)

/** Checks the data of a form, which is in the field `path`. Throws invalid_field. */
export function checkFormData(data: object, path: string): void {
  if (Object.keys(data).length === 0) {
    throw new Problem('invalid_field', `${path} must not be an empty object: leave it out`)
  }
  const { length } = JSON.stringify(data)
  if (length <= MAX_DATA) return
  throw new Problem('invalid_field', `${path} has ${length} characters as JSON; the maximum is ${MAX_DATA}`)
}

export const thumbnail = Maybe(
  Type.String({ maxLength: MAX_ID, description: 'The product whose picture is shown. By default the first one.' }),
)
