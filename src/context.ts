import type { Logger } from 'pino'
import type { BlobStore } from './blobs/blob-store.js'
import type { Device } from './channels/device.js'
import type { LinkedLibrary } from './channels/linked-device/library.js'
import type { Sandboxes } from './channels/sandbox.js'
import type { Database } from './database/pool.js'
import type { EndpointClient } from './endpoints/client.js'
import type { ThrottledRuns } from './lib/async/throttled-runs.js'
import type { SecretBox } from './lib/crypto/secret-box.js'
import type { Spool } from './lib/files/spool.js'
import type { Fetcher } from './lib/http/safe-fetch.js'
import type { Contact, ContactLookup } from './model/contacts/contact.js'
import type { Instance } from './model/instances/instance.js'
import type { MediaAddress, MessageOfContact } from './model/messages/message.js'
import type { MessageWriter } from './model/messages/outgoing.js'
import type { ReserveSendSlot } from './model/messages/send-rate.js'
import type { Notifications } from './model/notification.js'
import type { StorefrontClient } from './storefront/client.js'
import type { Transcriber } from './transcription/client.js'
import type { UpstreamClient } from './upstream/client.js'
import type { SimulatedNumber } from './upstream/simulator-link.js'

/** Makes and checks the signed addresses of stored media. */
export interface MediaLinks {
  urlOf: MediaAddress
  check(
    organizationId: string,
    mediaId: string,
    expires: string,
    signature: string,
    now: Date,
  ): 'valid' | 'expired' | 'invalid'
}

/** The text of a token, and the hash by which it is stored. */
export interface SignedToken {
  token: string
  secretHash: Buffer
}

/** Makes and reads signed tokens of one kind. */
export interface SignedTokens {
  /** A new token, with a secret of its own. */
  issue(organizationId: string, id: string): SignedToken
  /** What a token says, with the token that comes after it; null when it is not ours. */
  read(token: string): { organizationId: string; id: string; secretHash: Buffer; next: () => SignedToken } | null
}

/** The tokens by which members of teams are known. */
export interface SignInTokens {
  session: SignedTokens
  link: SignedTokens
}

/** Lets so many files pass through at a time, and no organization take the place of all. */
export interface FileLimiter {
  /** Does the work when there is a place for it; throws too_many_requests when there is none. */
  pass<Result>(organizationId: string, work: () => Promise<Result>): Promise<Result>
}

/** What every verb is handed. Made once, by the composition root (app.ts). */
export interface Context {
  database: Database
  /** The time; tests set it forward instead of waiting. */
  clock: () => Date
  log: Logger
  secrets: SecretBox
  upstream: UpstreamClient
  /** Asks storefronts for orders. */
  storefront: StorefrontClient
  /** Calls the endpoints of webhooks. */
  endpoints: EndpointClient
  /** The utm_sources, folded (model/broadcasts/utm), by which an order came from the messaging channel. */
  channelNames: readonly string[]
  /** Where people reach this service, such as https://chat.example.com. */
  publicUrl: () => string
  /** Has an organization's templates fetched on demand; see core/templates/templates. */
  refreshTemplates: ThrottledRuns<unknown>
  /** How long one call to the upstream waits for its answer, in milliseconds. */
  upstreamTimeoutMs: number
  /** Where the bytes of media are kept. */
  blobs: BlobStore
  /** The signed addresses of media (core/media/links). */
  mediaLinks: MediaLinks
  /** The tokens of sessions and sign-in links (core/identity/sign-in-tokens). */
  signInTokens: SignInTokens
  /** Gets files from addresses that users give; refuses private ones. */
  fetcher: Fetcher
  /** Where files lie while they pass through. */
  spool: Spool
  /** Bounds how many files of senders pass through at a time. */
  fileLimiter: FileLimiter
  /** The same of files that are imported. */
  importLimiter: FileLimiter
  /** The same of exports. */
  exportLimiter: FileLimiter
  /** Turns voice notes into text; null where that is not configured. */
  transcriber: Transcriber | null
  /** This process among those of the service. */
  processId: number
  /** Finds a contact by its addresses; see core/contacts/contacts. */
  lookUpContact: (lookup: ContactLookup) => Promise<Contact | null>
  /** Finds an instance by its name; see core/instances/manage/find. */
  lookUpInstance: (lookup: { organizationId: string; name: string }) => Promise<Instance | null>
  /** Finds a message with its contact; see core/messages/find. */
  lookUpMessage: (lookup: { organizationId: string; id: string }) => Promise<MessageOfContact | null>
  /** Writes down what is sent; see core/messages/send/message-writer. */
  messageWriter: MessageWriter
  /** Gives the messages of a business number their turns; see core/messages/send/rate-limiter. */
  reserveSendSlot: ReserveSendSlot
  /** Tells the workers that jobs have been inserted; called after the insert has committed. */
  wakeWorkers: () => void
  /** Tells within the service that there is something new; see core/runtime/notifications. */
  notifications: Notifications
  /** Makes a business number known to the simulator; null where none is in use. */
  linkWithSimulator: ((number: SimulatedNumber) => Promise<void>) | null
  /** The phones of the simulator; null where none is in use. */
  sandboxes: Sandboxes | null
  /** Linked devices, in whichever process they run; see core/instances/sessions/session-commands. */
  devices: (instance: Pick<Instance, 'organization_id' | 'id'>) => Device
  /** The library that links devices, loaded on demand; null where it is not installed. See core/instances/sessions/linked-library. */
  linkedLibrary: () => Promise<LinkedLibrary | null>
}

/** What the verbs of an operator need of it: the command line has no more. */
export type OperatorContext = Pick<Context, 'database' | 'clock'> & { notifications: Pick<Notifications, 'send'> }

/** The same for the verbs that store credentials. */
export type CredentialsContext = OperatorContext & Pick<Context, 'secrets' | 'linkWithSimulator' | 'wakeWorkers'>
