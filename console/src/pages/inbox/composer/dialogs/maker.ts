import type { SendRequest } from '../pending-sends.js'
import type { Route } from '../requests.js'

/** A dialog in which a message of some kind is made. */
export interface MakerProps {
  route: Route
  onSend: (request: SendRequest) => void
  onClose: () => void
}
