import type { ErrorBody } from '../src/upstream/wire.js'
import { newTraceId } from './ids.js'

/** A refusal as the upstream gives it: an HTTP status and the error body. */
export interface Refusal {
  status: number
  body: ErrorBody
}

type ErrorFields = Omit<ErrorBody['error'], 'type' | 'fbtrace_id'>

export const refusals = {
  noToken: () => plain(401, { message: 'An access token is required to request this resource.', code: 104 }),
  emptyToken: () => plain(401, { message: 'Invalid OAuth access token - Cannot parse access token', code: 190 }),
  wrongToken: () =>
    plain(401, {
      message: 'Error validating access token: The access token does not fit this phone number.',
      code: 190,
    }),
  /** `text` is what is wrong, such as `The parameter to is required.` */
  invalidParameter: (text: string) => plain(400, { message: `(#100) ${text}`, code: 100 }),
  unknownObject: (method: string, id: string) =>
    plain(400, {
      message: `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation.`,
      code: 100,
      error_subcode: 33,
    }),
  goneLink: () => plain(404, { message: 'The address of the media has expired or does not exist.', code: 100 }),
  tooLarge: () => plain(413, { message: '(#100) The request body is too large.', code: 100 }),
  internal: () => detailed(500, 131000, 'Something went wrong', 'Message failed to send due to an unknown error.'),
  missing: (details: string) => detailed(400, 131008, 'Required parameter is missing', details),
  invalidValue: (details: string) => detailed(400, 131009, 'Parameter value is not valid', details),
  malformedPhone: () => refusals.invalidValue('The phone number is malformed: Please use the format: +1234567890.'),
  mediaError: (details: string) => detailed(400, 131053, 'Media upload error', details),
  unavailable: () => detailed(500, 131016, 'Service unavailable', 'A service is temporarily unavailable.'),
  unsupportedType: () => detailed(400, 131051, 'Unsupported message type', 'Message type is not currently supported.'),
  undeliverable: () => detailed(400, 131026, 'Message undeliverable', 'Message Undeliverable.'),
  windowClosed: () =>
    detailed(
      400,
      131047,
      'Re-engagement message',
      'Message failed to send because more than 24 hours have passed since the customer last replied to this number.',
    ),
  throughput: () => detailed(400, 130429, 'Rate limit hit', 'Cloud API message throughput has been reached.', 2494055),
  pairRate: () =>
    detailed(
      400,
      131056,
      '(Business Account, Consumer Account) pair rate limit hit',
      'Message failed to send because there were too many messages sent from this phone number to the same phone number in a short period of time.',
    ),
}

function detailed(status: number, code: number, title: string, details: string, subcode?: number): Refusal {
  return plain(status, {
    message: `(#${code}) ${title}`,
    code,
    error_data: { messaging_product: 'whatsapp', details },
    ...(subcode === undefined ? {} : { error_subcode: subcode }),
  })
}

function plain(status: number, { message, ...rest }: ErrorFields): Refusal {
  return { status, body: { error: { message, type: 'OAuthException', ...rest, fbtrace_id: newTraceId() } } }
}
