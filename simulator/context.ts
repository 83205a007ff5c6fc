import type { World } from './accounts/world.js'
import type { BlockList } from './blocking/block-list.js'
import type { CallbackSender } from './callbacks/callback-sender.js'
import type { Idle } from './idle.js'
import type { MagicMedia, MagicRecipients } from './magic.js'
import type { MediaFolder } from './media/files.js'
import type { MediaLinks } from './media/links.js'
import type { MediaStore } from './media/store.js'
import type { Numbers } from './numbers/business-numbers.js'
import type { Phone } from './phones/phone.js'
import type { SeededRandom } from './random.js'
import type { Failures } from './sending/failures.js'
import type { Limits } from './sending/limits.js'
import type { MessageRecord } from './sending/message-record.js'
import type { StatusReports } from './sending/status-reports.js'
import type { Settings } from './settings.js'
import type { ShopOrders } from './storefront/orders.js'
import type { Examples } from './templates/examples.js'
import type { Templates } from './templates/store.js'

/** The state of a running simulator, shared by the upstream's API, the storefront and the control API. */
export interface Context {
  numbers: Numbers
  /** Apps, business accounts, registrations and tokens, if a test has made any. */
  world: World
  /** The simulated phones, by the id of their number. */
  phones: Map<string, Phone>
  settings: Settings
  /** What a reset restores. */
  initialSettings: Readonly<Settings>
  random: SeededRandom
  record: MessageRecord
  failures: Failures
  /** User ids by network id, learned from inbound messages. */
  userIds: Map<string, string>
  /** Who is in a group, by the group's id: network ids or user ids of who joined or wrote there. */
  groupMembers: Map<string, Set<string>>
  magic: MagicRecipients
  magicMedia: MagicMedia
  media: MediaStore
  mediaFolder: MediaFolder
  mediaLinks: MediaLinks
  blocks: BlockList
  /** Null when limits are not enforced. */
  limits: Limits | null
  templates: Templates
  /** The example files of templates. */
  examples: Examples
  sender: CallbackSender
  reports: StatusReports
  idle: Idle
  /** The orders of the storefront. */
  orders: ShopOrders
}
