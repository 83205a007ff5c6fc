import { type Sentence, toEnglish } from './sentence.js'

/**
 * All problems of requests: each code with the short name that clients read. Each interface maps a code to its own
 * status and body.
 */
export const PROBLEMS = {
  authorization_required: 'Authorization required',
  invalid_api_key: 'Invalid API key',
  insufficient_scope: 'Insufficient scope',
  session_required: 'Sign-in required',
  sign_in_failed: 'Sign-in failed',
  invalid_signature: 'Invalid signature',
  invalid_verify_token: 'Invalid verify token',
  invalid_link: 'Invalid link',
  organization_not_found: 'Organization not found',
  organization_suspended: 'Organization suspended',
  too_many_requests: 'Too many requests',
  invalid_parameter: 'Invalid parameter',
  missing_parameter: 'Missing required parameter',
  invalid_json: 'Invalid JSON',
  invalid_csv: 'Invalid CSV',
  unsupported_media_type: 'Unsupported media type',
  payload_too_large: 'Payload too large',
  missing_field: 'Missing required field',
  template_name_required: 'Template name is required',
  chat_number_required: 'chatNumber is required',
  invalid_field: 'Invalid field',
  invalid_message_type: 'Invalid message type',
  invalid_media: 'Invalid media',
  invalid_provider: 'Invalid provider',
  contact_not_found: 'Contact not found',
  recipient_not_found: 'Contact not found',
  contact_exists: 'Contact already exists',
  contact_blocked: 'Contact blocked',
  contact_unreachable: 'Contact not reachable',
  contact_opted_out: 'Contact opted out',
  account_restricted: 'Account restricted',
  merge_not_last: 'Later merge',
  merge_too_large: 'Merge too large',
  message_not_found: 'Message not found',
  template_not_found: 'Template not found',
  template_state: 'Invalid template state',
  template_rejected: 'Upstream rejected template',
  broadcast_not_found: 'Broadcast not found',
  audience_not_found: 'Audience not found',
  too_many_audiences: 'Too many audiences',
  too_many_files: 'Too many files',
  broadcast_state: 'Invalid broadcast state',
  scheduled_not_found: 'Scheduled message not found',
  scheduled_state: 'Invalid scheduled message state',
  too_many_scheduled: 'Too many scheduled messages',
  webhook_not_found: 'Webhook not found',
  delivery_not_found: 'Delivery not found',
  webhook_disabled: 'Webhook disabled',
  too_many_webhooks: 'Too many webhooks',
  order_not_found: 'Order not found',
  storefront_not_connected: 'Storefront not connected',
  storefront_credentials: 'Storefront credentials rejected',
  storefront_unavailable: 'Storefront unavailable',
  api_key_not_found: 'API key not found',
  api_key_ended: 'API key not active',
  member_not_found: 'Member not found',
  last_owner: 'Last owner',
  instance_not_found: 'Instance not found',
  instance_not_open: 'Connection Closed',
  instance_closed: 'Instance not connected',
  instance_taken: 'Instance already exists',
  not_supported: 'Not supported',
  not_on_network: 'Number not on the network',
  forbidden: 'Forbidden',
  already_taken: 'Already taken',
  number_in_use: 'Number in use',
  legal_hold: 'Legal hold',
  upstream_rejected: 'Upstream rejected message',
  upstream_credentials: 'Upstream credentials rejected',
  upstream_unavailable: 'Upstream unavailable',
  upstream_upload_failed: 'Upstream upload failed',
  outcome_unknown: 'Outcome unknown',
  idempotency_key_reused: 'Idempotency key reused',
  request_in_progress: 'Request in progress',
  not_found: 'Not found',
  method_not_allowed: 'Method not allowed',
  service_unavailable: 'Service unavailable',
  internal: 'Internal server error',
} as const

export type ProblemCode = keyof typeof PROBLEMS

/** Further fields of an error body, such as `chat_id`, `details`, `retry_after`. */
export type ProblemExtras = Record<string, string | number | boolean | object>

/**
 * Thrown to refuse a request. `message` is for people: what was wrong, with which value, what to do. If members of a
 * team meet it and need its values, it is a sentence, which the page has in its other languages too.
 */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly extras: ProblemExtras
  /** The message as a sentence; undefined if it is English only. */
  readonly sentence: Sentence | undefined

  constructor(code: ProblemCode, message: string | Sentence, extras: ProblemExtras = {}) {
    super(toEnglish(message))
    this.name = 'Problem'
    this.code = code
    this.extras = extras
    this.sentence = typeof message === 'string' ? undefined : message
  }
}
