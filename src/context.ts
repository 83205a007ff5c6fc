import type { Logger } from 'pino'
import type { BlobStore } from './blobs/blob-store.js'
import type { Device } from './channels/device.js'
import type { LinkedLibrary } from './channels/linked-device/library.js'
import type { Sandboxes } from './channels/sandbox.js'
import type { Purpose } from './database/databases.js'
import type { Database } from './database/pool.js'
import type { EndpointClient } from './endpoints/client.js'
import type { ByteBudget } from './lib/async/byte-budget.js'
import type { FairPlaces } from './lib/async/fair-places.js'
import type { LruCache } from './lib/async/lru-cache.js'
import type { ThrottledRuns } from './lib/async/throttled-runs.js'
import type { SecretBox } from './lib/crypto/secret-box.js'
import type { Spool } from './lib/files/spool.js'
import type { Fetcher } from './lib/http/safe-fetch.js'
import type { Tracer } from './lib/tracer.js'
import type { Contact, ContactLookup } from './model/contacts/contact.js'
import type { Instance, InstanceKey } from './model/instances/instance.js'
import type { MediaAddress, MessageOfContact } from './model/messages/message.js'
import type { MessageWriter } from './model/messages/outgoing.js'
import type { ReserveSendSlot } from './model/messages/send-rate.js'
import type { Notifications } from './model/notification.js'
import type { StorefrontClient } from './storefront/client.js'
import type { Transcriber } from './transcription/client.js'
import type { UpstreamClient } from './upstream/client.js'
import type { SimulatedNumber } from './upstream/simulator-link.js'

/** Creates and verifies the signed URLs of stored media. */
export interface MediaLinks {
  urlOf: MediaAddress
  check(
    organizationId: string,
    mediaId: string,
    signed: { expires: string; signature: string },
    now: Date,
  ): 'valid' | 'expired' | 'invalid'
}

/** A token, and the hash of its secret, which is stored. */
export interface SignedToken {
  token: string
  secretHash: Buffer
}

/** Creates and reads signed tokens of one kind. */
export interface SignedTokens {
  /** A new token, with a secret of its own. */
  issue(organizationId: string, id: string): SignedToken
  /** The content of a token; `next` creates its successor. Null if the signature is not ours. */
  read(token: string): { organizationId: string; id: string; secretHash: Buffer; next: () => SignedToken } | null
}

/** The tokens of devices on which a member signed in before. */
export interface DeviceTokens {
  /** `name`: the normalized name that the member signs in with. */
  issue(name: { slug: string; email: string }, deviceId: string): string
  /** The device's id; null if the token is not valid for this name. */
  read(token: string, name: { slug: string; email: string }): string | null
}

/** The tokens that identify members. */
export interface SignInTokens {
  session: SignedTokens
  link: SignedTokens
  device: DeviceTokens
}

/** Where a password comes from. */
export interface PasswordSource {
  /** Identifies a network, a known device, or a member. */
  id: string
  /** Whether the member of this name signed in there before. Strangers cannot lock such a source out. */
  isKnown: boolean
  /** The wider network that one client may have as well; null if there is none. */
  area: string | null
}

/** Hashes and checks passwords (core/identity/passwords), round robin over their sources, known ones apart. */
export interface Passwords {
  /** The hash of a password. Throws service_unavailable if too many wait. */
  hash(source: PasswordSource, password: string): Promise<string>
  /**
   * Whether the password has this hash. Null never matches, and takes as long, so that the time does not show who is a
   * member. Call it within `queue`.
   */
  matches(source: PasswordSource, passwordHash: string | null, password: string): Promise<boolean>
  /** Runs work that hashes or checks passwords. Throws service_unavailable before it starts if too many wait. */
  queue<Result>(source: PasswordSource, work: () => Promise<Result>): Promise<Result>
}

/** Bounds how many files are in progress, in all and for each organization. */
export interface FileLimiter {
  /** Does the work within the limits. Throws too_many_requests if they are reached. */
  pass<Result>(organizationId: string, work: () => Promise<Result>): Promise<Result>
  /**
   * Throws too_many_requests if they are reached at this moment. For files that arrive, which acquire their place when they
   * are there: a slow one must not keep it from others.
   */
  check(organizationId: string): void
}

/** The limits of concurrent work in this process. */
export interface Limits {
  /** Files that are sent. */
  sentFiles: FileLimiter
  /** Files that are imported. */
  importedFiles: FileLimiter
  /** Exports. */
  exportedFiles: FileLimiter
  /** Bytes of files on disk that organizations send or import (core/requests/arriving-files). */
  arrivingFiles: ByteBudget
  /** Conversions of files by ffmpeg, by organization; those beyond the limits wait. */
  conversions: FairPlaces
  /** Messages of broadcasts in progress, by organization. */
  broadcastSends: FairPlaces
}

/** Look-ups that share a statement with others of the same moment. */
export interface LookUps {
  /** A contact by its addresses (core/contacts/contacts). */
  contact: (lookup: ContactLookup) => Promise<Contact | null>
  /** An instance by its name (core/instances/manage/find). */
  instance: (lookup: { organizationId: string; name: string }) => Promise<Instance | null>
  /** A message with its contact (core/messages/find). */
  message: (lookup: { organizationId: string; id: string }) => Promise<MessageOfContact | null>
}

/** The context of finding a contact. */
export type ContactContext = Pick<Context, 'database'> & { lookUp: Pick<LookUps, 'contact'> }

/** The service's own settings and its place among its processes. */
interface ProcessContext {
  /** The database's time; tests set it forward instead of waiting. */
  clock: () => Date
  log: Logger
  /** Exports traces; null if that is off. */
  tracer: Tracer | null
  /** This process in the process registry. */
  processId: number
  /** The name of the cell that this installation is (docs/scaling.md); null if it is the only one. */
  cell: string | null
  /** The public address of this service, such as https://chat.example.com. */
  publicUrl: () => string
  /**
   * The values of utm_source, normalized (model/broadcasts/utm), that mark an order as coming from the messaging
   * channel.
   */
  channelNames: readonly string[]
  /** Maximum duration of one call to the upstream. */
  upstreamTimeoutMs: number
  limits: Limits
  /** The idempotent attempts that this process is making, by resource id (core/requests/idempotency). */
  attemptsInProgress: Set<string>
}

/** Stores and secrets. */
interface StoreContext {
  database: Database
  /** For reads that may show what was true a moment ago (database/replica). The primary, if there is no replica. */
  replica: Database
  lookUp: LookUps
  secrets: SecretBox
  passwords: Passwords
  /** The tokens of sessions and sign-in links (core/identity/sign-in-tokens). */
  signInTokens: SignInTokens
  /** The store of files. */
  blobs: BlobStore
  /** The signed URLs of media (core/media/links). */
  mediaLinks: MediaLinks
  /** The folder for files in progress. */
  spool: Spool
}

/** Clients of external services. */
interface ClientContext {
  upstream: UpstreamClient
  /** Reads orders of storefronts. */
  storefront: StorefrontClient
  /** Calls the endpoints of webhooks. */
  endpoints: EndpointClient
  /** Downloads files from addresses that users give; refuses private ones. */
  fetcher: Fetcher
  /** Turns voice notes into text; null if that is not configured. */
  transcriber: Transcriber | null
  /**
   * The library that links devices, loaded on demand; null if it is not installed
   * (core/instances/library/linked-library).
   */
  linkedLibrary: () => Promise<LinkedLibrary | null>
  /** Registers a business number with the simulator, if the upstream on this machine is one; null if it is elsewhere. */
  linkWithSimulator: ((number: SimulatedNumber) => Promise<void>) | null
  /** Whether the upstream says now that it is a simulator, which accepts any number. */
  isSimulated: () => Promise<boolean>
  /** The simulated phones; null if no simulator is in use. */
  sandboxes: Sandboxes | null
}

/** Sending and notifications. */
interface SendContext {
  /** Records outgoing messages (core/messages/send/message-writer). */
  messageWriter: MessageWriter
  /** Reserves the moment at which a number may send (core/messages/send/rate-limiter). */
  reserveSendSlot: ReserveSendSlot
  /** Fetches an organization's templates on demand (core/templates/templates). */
  refreshTemplates: ThrottledRuns<unknown>
  /** The campaigns of one-off sends that this process has used (core/templates/send). */
  oneOffCampaigns: LruCache<string>
  /** Notifies the other processes that there is something new (core/processes/notifications). */
  notifications: Notifications
}

/** The parts of the context that use connections of one purpose (database/databases). */
export type DatabaseContext = Pick<BaseContext, 'database' | 'replica' | 'lookUp' | 'messageWriter' | 'reserveSendSlot'>

/** The context without linked devices; sessions are built from it. */
export interface BaseContext extends ProcessContext, StoreContext, ClientContext, SendContext {}

/** The context of functions that run in requests and in work. Built by the composition root (app.ts). */
export interface Context extends BaseContext {
  /** The linked device of an instance, in this or another process (core/instances/commands/session-commands). */
  devices: (instance: InstanceKey) => Device
}

/** The context of requests: a statement may take 10 s, and waits at most 5 s for a connection. */
export interface RequestContext extends Context, For<'requests'> {}

/** The context of callbacks, jobs and deliveries: a statement may take 60 s, and waits until a connection is free. */
export interface WorkContext extends Context, For<'work'> {}

/** The context of event streams and metrics, on the few connections that must always get through. */
export type LiveContext = Pick<Context, 'database' | 'clock' | 'log' | 'mediaLinks' | 'notifications'> & For<'live'>

/**
 * The context of a turn of callbacks (core/callbacks/turn): `database` is the one connection that holds the
 * organization's lock. Parts that use other connections are left out, since they would record without the lock.
 */
export type TurnContext = Pick<Context, 'database' | 'clock' | 'log' | 'notifications' | 'processId'> & For<'turn'>

/** Keeps contexts apart that otherwise have the same properties. */
interface For<Use extends Purpose | 'turn'> {
  readonly purpose: Use
}

/** The context of operators' functions, which is all that the command line has. */
export type OperatorContext = Pick<Context, 'database' | 'clock' | 'cell' | 'log'> & {
  notifications: Pick<Notifications, 'send'>
}

/** The same for functions that store credentials. */
export type CredentialsContext = OperatorContext & Pick<Context, 'secrets' | 'linkWithSimulator'>
