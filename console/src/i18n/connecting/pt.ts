import type { ConnectionReason } from '../../../../src/model/organizations/connection-steps.js'
import { APP_SECRET_TEXTS } from './pt/app-secret.js'
import { CALLBACKS_TEXTS } from './pt/callbacks.js'
import { HEALTH_TEXTS } from './pt/health.js'
import { NAME_TEXTS } from './pt/name.js'
import { NUMBER_TEXTS } from './pt/number.js'
import { QUALITY_TEXTS } from './pt/quality.js'
import { RECEIVED_TEXTS } from './pt/received.js'
import { REGISTERED_TEXTS } from './pt/registered.js'
import { SENT_TEXTS } from './pt/sent.js'
import type { StepText } from './pt/step-text.js'
import { SUBSCRIBED_TEXTS } from './pt/subscribed.js'
import { TOKEN_TEXTS } from './pt/token.js'

/** The texts of the service (src/model/organizations/connection-steps.ts) in Portuguese. */
export const STEP_TEXTS: Record<ConnectionReason, StepText> = {
  ...TOKEN_TEXTS,
  ...APP_SECRET_TEXTS,
  ...NUMBER_TEXTS,
  ...CALLBACKS_TEXTS,
  ...SUBSCRIBED_TEXTS,
  ...REGISTERED_TEXTS,
  ...NAME_TEXTS,
  ...QUALITY_TEXTS,
  ...HEALTH_TEXTS,
  ...SENT_TEXTS,
  ...RECEIVED_TEXTS,
}
