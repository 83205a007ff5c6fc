import { type Static, Type } from 'typebox'
import { named } from '../../../http/description/name-schemas.js'
import { Maybe, RequiredText } from '../../../model/fields.js'
import type { Flow } from '../../../model/messages/interactive.js'
import { LIMITS } from '../../../model/messages/limits.js'
import { Problem } from '../../../model/problem.js'
import { body, checkFormData, footer, formData, formToken, header, headerMedia } from './interactive-fields.js'
import { textOrNull } from './one-of.js'

/** An own limit: the upstream names none. */
const MAX_NAME = 200

/** A button that opens a form. */
export const FlowOffer = named(
  'FlowOffer',
  Type.Object({
    type: Type.Literal('flow'),
    body,
    header,
    header_media: headerMedia,
    footer,
    flow_id: Maybe(Type.String({ maxLength: MAX_NAME, description: "The form's id. Or give flow_name." })),
    flow_name: Maybe(Type.String({ maxLength: MAX_NAME })),
    flow_cta: RequiredText(LIMITS.flowTitle, "The button's text"),
    flow_token: formToken,
    mode: Maybe(Type.Enum(['draft', 'published'])),
    flow_action: Maybe(
      Type.Enum(['navigate', 'data_exchange'], {
        description: 'data_exchange: your endpoint chooses the first screen. With screen, it is navigate.',
      }),
    ),
    screen: Maybe(Type.String({ maxLength: MAX_NAME, description: 'The first screen' })),
    data: formData,
  }),
)

/** The form of a button, without its texts. Throws missing_field and invalid_field for rules among its fields. */
export function readFlow(given: Static<typeof FlowOffer>): { type: 'flow_offer' } & Flow {
  const { flow_cta, mode = null, flow_action: action = null, data = null } = given
  const flow_id = textOrNull(given.flow_id)
  const flow_name = textOrNull(given.flow_name)
  const screen = textOrNull(given.screen)
  if (flow_id === null && flow_name === null) {
    throw new Problem(
      'missing_field',
      'interactive.flow_id (or interactive.flow_name) is required and must not be empty',
    )
  }
  if (flow_id !== null && flow_name !== null) {
    throw new Problem('invalid_field', 'interactive.flow_id and interactive.flow_name exclude each other: give one')
  }
  if (screen !== null && action === 'data_exchange') {
    throw new Problem('invalid_field', 'interactive.screen must not be given with flow_action data_exchange')
  }
  if (data !== null && screen === null) {
    throw new Problem('missing_field', 'interactive.screen is required if interactive.data is given')
  }
  if (data !== null) checkFormData(data, 'interactive.data')
  return {
    type: 'flow_offer',
    flow_id,
    flow_name,
    flow_cta,
    flow_token: textOrNull(given.flow_token),
    mode,
    flow_action: screen === null ? action : 'navigate',
    screen,
    data,
  }
}
