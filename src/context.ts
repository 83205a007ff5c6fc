import type { Logger } from 'pino'
import type { Database } from './database/pool.js'
import type { SecretBox } from './lib/secret-box.js'
import type { Contact, ContactLookup } from './model/contact.js'
import type { UpstreamClient } from './upstream/client.js'
import type { SimulatedNumber } from './upstream/simulator-link.js'

/** What every verb is handed. Made once, by the composition root (app.ts). */
export interface Context {
  database: Database
  /** The time; tests set it forward instead of waiting. */
  clock: () => Date
  log: Logger
  secrets: SecretBox
  upstream: UpstreamClient
  /** How long one call to the upstream waits for its answer, in milliseconds. */
  upstreamTimeoutMs: number
  /** This process among those of the service. */
  processId: number
  /** Finds a contact by its addresses; see core/contacts. */
  lookUpContact: (lookup: ContactLookup) => Promise<Contact | null>
  /** Tells the workers that jobs have been inserted; called after the insert has committed. */
  wakeWorkers: () => void
  /** Makes a business number known to the simulator; null where none is in use. */
  linkWithSimulator: ((number: SimulatedNumber) => Promise<void>) | null
}

/** What the verbs of an operator need of it: the command line has no more. */
export type OperatorContext = Pick<Context, 'database' | 'clock'>

/** The same for the verbs that store credentials. */
export type CredentialsContext = OperatorContext & Pick<Context, 'secrets' | 'linkWithSimulator'>
