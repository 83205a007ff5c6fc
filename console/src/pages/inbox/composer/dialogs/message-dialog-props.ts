import type { SendRequest } from '../pending-sends.js'
import type { Route } from '../requests.js'

/** Props of a dialog that composes a message. */
export interface MessageDialogProps {
  route: Route
  onSend: (request: SendRequest) => void
  onClose: () => void
}
