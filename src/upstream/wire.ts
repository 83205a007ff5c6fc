/**
 * The wire types of the upstream's API: requests, answers, and callbacks. Types and small guards only. Inbound types
 * promise little on purpose: the upstream omits fields and adds kinds without notice, so most fields are optional and
 * unknown ones are ignored.
 */

// ── Sending: POST /{phone_number_id}/messages ────────────────────────────────────────────────────────────────────────

export interface TextPayload {
  /** 1 to 4096 characters. */
  body: string
  preview_url?: boolean
}

export interface ReactionPayload {
  message_id: string
  /** An empty string removes the reaction. */
  emoji: string
}

/** A file that was uploaded before. */
export interface MediaReference {
  id: string
}

export interface LocationPayload {
  latitude: number
  longitude: number
  name?: string
  address?: string
}

/** A contact card. In addition to `formatted_name`, the upstream requires one more part of the name. */
export interface ContactCardPayload {
  name: { formatted_name: string; first_name: string; last_name?: string }
  phones: Array<{ phone: string; type?: string; wa_id?: string }>
  org?: { company: string }
  emails?: Array<{ email: string }>
  urls?: Array<{ url: string }>
}

/** A poll. The upstream has none; the simulator's phones do. */
export interface PollPayload {
  name: string
  options: string[]
  /** How many options a person may choose; 0: all of them. */
  selectable_count: number
}

/** The header above the body; lists accept text only. */
export type InteractiveHeader =
  | { type: 'text'; text: string }
  | { type: 'image'; image: MediaReference }
  | { type: 'video'; video: MediaReference }
  | { type: 'document'; document: MediaReference & { filename?: string } }

interface InteractiveFrame {
  body: { text: string }
  footer?: { text: string }
}

/** A button that opens an address. */
export interface UrlAction {
  name: 'cta_url'
  parameters: { display_text: string; url: string }
}

/** A product of a catalogue. */
export interface ProductReference {
  catalog_id: string
  product_retailer_id: string
}

/** The form that a button opens: one of `flow_id` and `flow_name`. */
export interface FlowParameters {
  flow_message_version: '3'
  flow_id?: string
  flow_name?: string
  flow_cta: string
  flow_token?: string
  mode?: 'draft' | 'published'
  flow_action?: 'navigate' | 'data_exchange'
  /** `data` is not empty. */
  flow_action_payload?: { screen: string; data?: Record<string, unknown> }
}

/** The header of a card: the upstream fetches the file. */
export type CardHeader = { type: 'image'; image: { link: string } } | { type: 'video'; video: { link: string } }

/** A card of a carousel. All are of products, or all have the same kind and number of buttons. */
export type CarouselCard =
  | { card_index: number; type: 'product'; action: ProductReference }
  | {
      card_index: number
      /** Also of cards with quick replies. */
      type: 'cta_url'
      header: CardHeader
      body?: { text: string }
      action: UrlAction | { buttons: Array<{ type: 'quick_reply'; quick_reply: { id: string; title: string } }> }
    }

export type InteractivePayload =
  | (InteractiveFrame & {
      type: 'button'
      header?: InteractiveHeader
      action: { buttons: Array<{ type: 'reply'; reply: { id: string; title: string } }> }
    })
  | (InteractiveFrame & {
      type: 'list'
      header?: Extract<InteractiveHeader, { type: 'text' }>
      action: {
        button: string
        sections: Array<{ title?: string; rows: Array<{ id: string; title: string; description?: string }> }>
      }
    })
  | (InteractiveFrame & { type: 'cta_url'; header?: InteractiveHeader; action: UrlAction })
  | (InteractiveFrame & {
      type: 'flow'
      header?: InteractiveHeader
      action: { name: 'flow'; parameters: FlowParameters }
    })
  | { type: 'location_request_message'; body: { text: string }; action: { name: 'send_location' } }
  | { type: 'request_contact_info'; body: { text: string }; action: { name: 'request_contact_info' } }
  | {
      type: 'address_message'
      body: { text: string }
      action: {
        name: 'address_message'
        parameters: {
          country: string
          values?: Record<string, string>
          saved_addresses?: Array<{ id: string; value: Record<string, string> }>
        }
      }
    }
  | (Partial<InteractiveFrame> & { type: 'product'; action: ProductReference })
  | (InteractiveFrame & {
      type: 'product_list'
      header: Extract<InteractiveHeader, { type: 'text' }>
      action: {
        catalog_id: string
        sections: Array<{ title?: string; product_items: Array<{ product_retailer_id: string }> }>
      }
    })
  | (InteractiveFrame & {
      type: 'catalog_message'
      action: { name: 'catalog_message'; parameters?: { thumbnail_product_retailer_id: string } }
    })
  | { type: 'carousel'; body: { text: string }; action: { cards: CarouselCard[] } }

/** The value of a variable; `parameter_name` for named variables, otherwise the order decides. */
export interface TextParameter {
  type: 'text'
  text: string
  parameter_name?: string
}

export type TemplateHeaderParameter =
  | TextParameter
  | Exclude<InteractiveHeader, { type: 'text' }>
  | { type: 'location'; location: { latitude: string; longitude: string; name: string; address: string } }
  | { type: 'product'; product: { product_retailer_id: string; catalog_id: string } }
  /** Of cards: the upstream fetches the file. */
  | CardHeader

/** What a button of a template shows or opens. */
export interface ButtonAction {
  thumbnail_product_retailer_id?: string
  sections?: Array<{ title?: string; product_items: Array<{ product_retailer_id: string }> }>
  flow_token?: string
  flow_action_data?: Record<string, unknown>
}

/** The parameters of one part of a template. `index` is the position of a button among all buttons. */
export type TemplateComponent =
  | { type: 'header'; parameters: TemplateHeaderParameter[] }
  | { type: 'body'; parameters: TextParameter[] }
  | { type: 'button'; sub_type: 'url'; index: string; parameters: TextParameter[] }
  | {
      type: 'button'
      sub_type: 'copy_code'
      index: string
      parameters: Array<{ type: 'coupon_code'; coupon_code: string }>
    }
  /** That of a flow is required although it says nothing: a flow begins with the token `unused` and its first screen. */
  | {
      type: 'button'
      sub_type: 'flow' | 'catalog' | 'mpm'
      index: string
      parameters?: Array<{ type: 'action'; action: ButtonAction }>
    }
  | {
      type: 'limited_time_offer'
      /** Unix milliseconds. */
      parameters: Array<{ type: 'limited_time_offer'; limited_time_offer: { expiration_time_ms: number } }>
    }
  | { type: 'carousel'; cards: Array<{ card_index: number; components: TemplateComponent[] }> }

/** Parts without variables are left out of `components`. */
export interface TemplatePayload {
  name: string
  language: { code: string }
  components: TemplateComponent[]
}

/** The payloads by message `type`. A new type is one more line here. */
export interface OutboundPayloads {
  text: TextPayload
  image: MediaReference & { caption?: string }
  video: MediaReference & { caption?: string }
  /** A voice note must be OGG/Opus in mono. */
  audio: MediaReference & { voice?: boolean }
  sticker: MediaReference
  document: MediaReference & { caption?: string; filename?: string }
  location: LocationPayload
  contacts: ContactCardPayload[]
  interactive: InteractivePayload
  reaction: ReactionPayload
  template: TemplatePayload
  poll: PollPayload
}

export type OutboundType = keyof OutboundPayloads

/** `type` and the payload under the key of the same name. */
export type OutboundContent = {
  [Type in OutboundType]: { type: Type } & Record<Type, OutboundPayloads[Type]>
}[OutboundType]

/** A phone number in digits, the business-scoped id of a person who shows no number, or the id of a group. */
export type OutboundRecipient =
  | { recipient_type?: 'individual'; to: string; recipient?: never }
  | { recipient_type?: 'individual'; recipient: string; to?: never }
  | { recipient_type: 'group'; to: string; recipient?: never }

export interface OutboundEnvelope {
  messaging_product: 'whatsapp'
  /** The message that this one replies to. */
  context?: { message_id: string }
  /** At most 512 characters, returned in every status of the message. */
  biz_opaque_callback_data?: string
  /** The mentioned people, in the network's form; only the simulator's phones use it. */
  mentions?: readonly string[]
}

export type OutboundMessage = OutboundEnvelope & OutboundRecipient & OutboundContent

/** Marks an inbound message as read; posted to the same path, answered by `MarkReadResponse`. */
export interface MarkRead {
  messaging_product: 'whatsapp'
  status: 'read'
  message_id: string
  typing_indicator?: { type: 'text' }
}

export interface MarkReadResponse {
  success: boolean
}

/** A person in a list of blocked ones: a number in digits, or a user id; parent ids are refused. */
export type BlockedPerson = { user: string } | { user_id: string }

/** Posted to `/{phone_number_id}/block_users` to block people, sent with DELETE to unblock them. */
export interface BlockUsers {
  messaging_product: 'whatsapp'
  block_users: BlockedPerson[]
}

/** The answer. If somebody failed, it comes with HTTP 400 and an error. */
export interface BlockUsersResponse {
  messaging_product: 'whatsapp'
  block_users: {
    added_users?: BlockedUser[]
    removed_users?: BlockedUser[]
    failed_users?: Array<BlockedUser & { errors: CallbackError[] }>
  }
}

export interface BlockedUser {
  input: string
  wa_id?: string
  user_id?: string
}

/** The answer to an accepted send. Delivery is reported later, as statuses. */
export interface SendResponse {
  messaging_product: 'whatsapp'
  /** `wa_id` may differ from `input`; sends by user id have `user_id` instead. */
  contacts: Array<{ input: string; wa_id?: string; user_id?: string }>
  messages: Array<{ id: string; group_id?: string; message_status?: string }>
}

/** The body of every error. Decide by `code`; the HTTP status and the title are not reliable. */
export interface ErrorBody {
  error: {
    message: string
    type?: string
    code: number
    error_data?: { messaging_product?: string; details?: string }
    error_subcode?: number
    error_user_title?: string
    error_user_msg?: string
    is_transient?: boolean
    fbtrace_id?: string
  }
}

// ── Callbacks ────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface CallbackEnvelope {
  object: string
  entry: Entry[]
}

export interface Entry {
  /** The business account's id. */
  id: string
  /** Unix seconds. */
  time?: number
  changes: Change[]
}

export interface Change {
  field: string
  value: unknown
}

/** Only from the simulator: a simulated phone was linked or unlinked. */
export interface ConnectionChange extends Change {
  field: 'connection'
  value: ConnectionValue
}

export interface MessagesValue {
  messaging_product?: string
  metadata?: Metadata
  contacts?: CallbackContact[]
  messages?: InboundMessage[]
  statuses?: MessageStatus[]
  errors?: CallbackError[]
}

export interface Metadata {
  display_phone_number?: string
  phone_number_id: string
}

export interface ConnectionValue {
  messaging_product: 'whatsapp'
  metadata: Metadata
  /** `code`: the network's reason for a close; `number`: digits; `name`: the owner's name. */
  connection: { state: 'open' | 'close'; code?: number; number?: string; name?: string }
}

export interface CallbackContact {
  profile?: { name?: string; username?: string }
  wa_id?: string
  user_id?: string
  parent_user_id?: string
  identity_key_hash?: string
}

/** An error inside a callback: of the whole value, of one message or of one status. */
export interface CallbackError {
  code: number
  title?: string
  message?: string
  error_data?: { details?: string }
  href?: string
}

// ── Callbacks: inbound messages ──────────────────────────────────────────────────────────────────────────────────────

/**
 * An inbound message: the common fields and, under the key named by `type`, its payload. `type` may be unknown to
 * Parley.
 */
export interface InboundMessage extends Partial<InboundPayloads> {
  id: string
  type: string
  /** Unix seconds, as a string. */
  timestamp: string
  /** Absent if the sender shows no phone number; then `from_user_id` is present. */
  from?: string
  from_user_id?: string
  from_parent_user_id?: string
  /** The group that it was written in. */
  group_id?: string
  context?: InboundContext
  referral?: Referral
  errors?: CallbackError[]
}

export interface InboundPayloads {
  text: { body: string }
  image: InboundMedia
  video: InboundMedia
  audio: InboundMedia & { voice?: boolean }
  document: InboundMedia & { filename?: string }
  sticker: InboundMedia & { animated?: boolean }
  location: InboundLocation
  contacts: InboundContactCard[]
  interactive: InboundInteractive
  /** A template's quick-reply button was pressed; `context.id` usually names the template message. */
  button: { payload?: string; text?: string }
  /** A missing or empty emoji removes the reaction. */
  reaction: { message_id: string; emoji?: string }
  order: InboundOrder
  system: { body?: string; type?: string; wa_id?: string; user_id?: string }
  unsupported: { type?: string }
  edit: { original_message_id: string; message?: Partial<InboundMessage> }
  revoke: { original_message_id: string }
}

/** The message that this one replies to, or the mark of a forwarded message (then without `id`). */
export interface InboundContext {
  from?: string
  id?: string
  forwarded?: boolean
  frequently_forwarded?: boolean
  referred_product?: { catalog_id?: string; product_retailer_id?: string }
}

/** The advertisement that led to the conversation. */
export interface Referral {
  source_url?: string
  source_id?: string
  source_type?: string
  body?: string
  headline?: string
  media_type?: string
  image_url?: string
  video_url?: string
  thumbnail_url?: string
  ctwa_clid?: string
  welcome_message?: { text?: string }
}

export interface InboundMedia {
  id: string
  mime_type?: string
  /** Mostly base64, hex in places. */
  sha256?: string
  url?: string
  caption?: string
}

export interface InboundLocation {
  latitude: number
  longitude: number
  name?: string
  address?: string
  url?: string
}

export interface InboundContactCard {
  name?: {
    formatted_name?: string
    first_name?: string
    last_name?: string
    middle_name?: string
    prefix?: string
    suffix?: string
  }
  phones?: Array<{ phone?: string; wa_id?: string; type?: string }>
  emails?: Array<{ email?: string; type?: string }>
  urls?: Array<{ url?: string; type?: string }>
  addresses?: Array<Record<string, unknown>>
  org?: { company?: string; department?: string; title?: string }
  birthday?: string
}

export interface InboundInteractive {
  type: string
  button_reply?: { id?: string; title?: string }
  list_reply?: { id?: string; title?: string; description?: string }
  nfm_reply?: { name?: string; body?: string; response_json?: string }
}

export interface InboundOrder {
  catalog_id?: string
  text?: string
  product_items?: Array<{
    product_retailer_id?: string
    quantity?: number | string
    item_price?: number | string
    currency?: string
  }>
}

// ── Callbacks: statuses of sent messages, templates ──────────────────────────────────────────────────────────────────

export interface MessageStatus {
  /** The sent message's id. */
  id: string
  /** `sent`, `delivered`, `read`, `failed`, `played` (a voice note), or a value unknown to Parley. */
  status: string
  /** Unix seconds, as a string. */
  timestamp: string
  recipient_id?: string
  recipient_user_id?: string
  recipient_type?: string
  /** The member of a group whom it is about; in three published examples the words are the other way round. */
  recipient_participant_id?: string
  recipient_participant_user_id?: string
  biz_opaque_callback_data?: string
  conversation?: { id?: string; expiration_timestamp?: string; origin?: { type?: string } }
  pricing?: { billable?: boolean; pricing_model?: string; type?: string; category?: string }
  errors?: CallbackError[]
}

export interface TemplateStatusValue {
  event: string
  message_template_id?: number | string
  message_template_name?: string
  message_template_language?: string
  message_template_category?: string
  reason?: string | null
  disable_info?: { disable_date?: string }
  other_info?: { title?: string; description?: string }
  rejection_info?: Record<string, unknown>
}
