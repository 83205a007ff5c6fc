import { deflateRawSync, inflateRawSync } from 'node:zlib'

// Raw callbacks resemble each other, so their bodies are stored packed, with a dictionary of what all of them have. SQL
// does not look into packed bodies. See docs/decisions/events.md.

/** The first byte of a packed body, which no JSON begins with. Another dictionary needs another one. */
const MARK = 1
/** Larger bodies are rare. They are not packed, so that packed ones take little memory. */
const MAX_PACKED = 16_384
/** The database looks at the beginning of what came from linked devices. */
const DEVICE = Buffer.from('{"object":"linked_device"')

/** What is most frequent is last. It never changes, in no byte: stored bodies cannot be read without it. */
const DICTIONARY = Buffer.from(
  [
    '"errors":[{"code":131026,"title":"Message undeliverable","message":"Message undeliverable","error_data":{"details":""}}]',
    '"type":"interactive","interactive":{"type":"button_reply","button_reply":{"id":"","title":""}}',
    '"type":"image","image":{"mime_type":"image/jpeg","sha256":"","id":"","caption":"","url":"https://lookaside.fbsbx.com/"}',
    '"type":"audio","audio":{"mime_type":"audio/ogg; codecs=opus","sha256":"","id":"","voice":true}',
    '"type":"reaction","reaction":{"message_id":"wamid.HBgN","emoji":""}',
    '"context":{"from":"","id":"wamid.HBgN"}',
    '"contacts":[{"profile":{"name":""},"wa_id":"55","user_id":""}],"messages":[{"from":"55","from_user_id":"","id":"wamid.HBgN',
    '","timestamp":"17","type":"text","text":{"body":""}}]',
    '"type":"regular","category":"marketing"}"category":"utility"}"category":"authentication"}',
    '{"object":"whatsapp_business_account","entry":[{"id":"","changes":[{"value":{"messaging_product":"whatsapp","metadata":',
    '{"display_phone_number":"","phone_number_id":""},"contacts":[{"wa_id":"","user_id":""}],"statuses":[{"id":"wamid.HBgN',
    '","status":"read","timestamp":"17","status":"sent","timestamp":"17","status":"delivered","timestamp":"17","recipient_id":"',
    '","recipient_user_id":"","biz_opaque_callback_data":"","conversation":{"id":"","expiration_timestamp":"17","origin":{"type":',
    '"service"}},"pricing":{"billable":true,"billable":false,"pricing_model":"PMP","type":"free_customer_service","category":',
    '"service"}}]},"field":"messages"}]}]}',
  ].join(''),
)

/** Little memory, because each body is packed by itself, and memory is most of what that costs. */
const OPTIONS = { dictionary: DICTIONARY, windowBits: 12, memLevel: 4, chunkSize: 2_048 }

/** SQL: whether the stored body is packed. */
export const isPacked = (body: string) => `substr(${body}, 1, 1) = '\\x01'::bytea`

/** The body as it is stored packed; null if it is to be stored as it is. */
export function packBody(body: Buffer): Buffer | null {
  if (body.length > MAX_PACKED || body.subarray(0, DEVICE.length).equals(DEVICE)) return null
  const packed = Buffer.concat([Buffer.of(MARK), deflateRawSync(body, OPTIONS)])
  return packed.length < body.length ? packed : null
}

/**
 * The body as it came; of a damaged one, or one that is too large (an imported archive may have any), the stored bytes, so
 * that it fails by itself when it is read as JSON.
 */
export function unpackBody(stored: Buffer): Buffer {
  if (stored[0] !== MARK) return stored
  try {
    return inflateRawSync(stored.subarray(1), { ...OPTIONS, maxOutputLength: MAX_PACKED })
  } catch {
    return stored
  }
}
