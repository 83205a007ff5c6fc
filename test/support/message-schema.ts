import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import published from './upstream-schemas.json' with { type: 'json' }

// A JSON Schema is looked into at places that its own type does not promise.
// biome-ignore lint/suspicious/noExplicitAny: see above
const schemas: Record<string, any> = structuredClone(published.components.schemas)

// Corrections of the published description where the upstream's own documentation and examples differ.
schemas.BaseMessageProperties.properties.biz_opaque_callback_data = { type: 'string', maxLength: 512 }
schemas.LocationMessage.allOf[1].properties.location.properties.latitude = { type: 'number' }
schemas.LocationMessage.allOf[1].properties.location.properties.longitude = { type: 'number' }
schemas.ContactsMessage.allOf[1].properties.contacts.maxItems = 257
schemas.PhoneObject.properties.type = { type: 'string' }
schemas.LanguageObject.required = ['code']
schemas.TemplateComponent.properties.sub_type.enum.push('copy_code', 'flow')
schemas.TemplateComponent.properties.index = { type: 'string', pattern: '^[0-9]$' }

// The description lacks the kinds that are newer than it.
const newerActions = ['cta_url', 'send_location', 'request_contact_info', 'address_message']
schemas.InteractiveObject.properties.type.enum.push(
  ...['cta_url', 'location_request_message', 'request_contact_info', 'address_message', 'carousel'],
)
schemas.ActionObject.oneOf.push(
  { required: ['name'], properties: { name: { type: 'string', enum: newerActions } } },
  { required: ['cards'], properties: { cards: { type: 'array', minItems: 2, maxItems: 10 } } },
)

// It uses undefined formats (`url`), and keywords of OpenAPI.
const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema({ $id: 'upstream', components: { schemas } })
const validate = ajv.getSchema('upstream#/components/schemas/Message')

/** The errors of a sent message against the upstream's own description; empty if it is valid. */
export function schemaErrors(message: unknown): ErrorObject[] {
  if (!validate) throw new Error('upstream-schemas.json has no schema named Message')
  return validate(message) ? [] : (validate.errors ?? [])
}
