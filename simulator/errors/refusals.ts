import type { CallbackError, ErrorBody } from '../../src/upstream/wire.js'
import { newTraceId } from '../ids.js'
import { fixedError } from './fixed-errors.js'

/** An error of the upstream: HTTP status and body. */
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
  /** `text` describes the problem, such as `The parameter to is required.` */
  invalidParameter: (text: string) => plain(400, { message: `(#100) ${text}`, code: 100 }),
  unknownObject: (method: string, id: string) =>
    plain(400, {
      message: `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation.`,
      code: 100,
      error_subcode: 33,
    }),
  expiredLink: () => plain(404, { message: 'The address of the media has expired or does not exist.', code: 100 }),
  unknownField: (field: string, node: string) =>
    refusals.invalidParameter(`Tried accessing nonexisting field (${field}) on node type (${node})`),
  invalidCursor: () => detailed(400, 131059, 'Invalid paging cursor', 'The cursor does not belong to this list.'),
  tooLarge: () => plain(413, { message: '(#100) The request body is too large.', code: 100 }),
  internal: () => fixedRefusal(131000),
  missing: (details: string) => detailed(400, 131008, 'Required parameter is missing', details),
  invalidValue: (details: string) => detailed(400, 131009, 'Parameter value is not valid', details),
  malformedPhone: () => refusals.invalidValue('The phone number is malformed: Please use the format: +1234567890.'),
  mediaError: (details: string) => detailed(400, 131053, 'Media upload error', details),
  unavailable: () => fixedRefusal(131016),
  unsupportedType: () => detailed(400, 131051, 'Unsupported message type', 'Message type is not currently supported.'),
  /** A simulated phone that is not linked cannot send. */
  notLinked: (state: string) =>
    detailed(400, 133010, 'Phone number not registered', `The phone is not linked: its state is ${state}, not open.`),
  unknownToken: () => plain(401, { message: 'Invalid OAuth access token - Cannot parse access token', code: 190 }),
  expiredToken: (seconds: number) =>
    plain(401, {
      message: `Error validating access token: Session has expired on ${new Date(seconds * 1_000).toUTCString()}.`,
      code: 190,
      error_subcode: 463,
    }),
  wrongProof: () => plain(400, { message: 'Invalid appsecret_proof provided in the API argument', code: 100 }),
  missingProof: () =>
    plain(400, { message: 'API calls from the server require an appsecret_proof argument', code: 100 }),
  /** `code` is 10 for messages and 200 for the rest. */
  noPermission: (code: 10 | 200) =>
    plain(403, {
      message:
        code === 10
          ? '(#10) Application does not have permission for this action'
          : '(#200) You do not have the necessary permissions required to perform this action',
      code,
    }),
  needsAppToken: () => plain(400, { message: '(#15) This method must be called with an app access_token', code: 15 }),
  notRegistered: () => plain(400, { message: '(#133010) Account not registered', code: 133010 }),
  locked: () => fixedRefusal(131031),
  noPayment: () => fixedRefusal(131042),
  nameNotApproved: () => fixedRefusal(131037),
  notAllowedRecipient: () =>
    detailed(
      400,
      131030,
      'Recipient phone number not in allowed list',
      'Recipient phone number not in allowed list: Add recipient phone number to recipient list and try again.',
    ),
  onlyTestNumbers: () =>
    detailed(
      400,
      131058,
      'Hello World templates can only be sent from the Public Test Numbers',
      'Hello World templates can only be sent from the Public Test Numbers.',
    ),
  overrideTooEarly: () =>
    refusals.invalidParameter(
      'Before override the current callback uri, your app must be subscribed to receive messages for WhatsApp Business Account',
    ),
  notVerified: (why: string) =>
    plain(400, {
      message: `(#2200) Callback verification failed with the following errors: ${why}`,
      code: 2200,
    }),
  sharedNumber: () => plain(403, { message: '(#200) Permissions error', code: 200 }),
  nameNotProcessed: () =>
    plain(400, { message: '(#100) Cannot Create Certificate', code: 100, error_subcode: 2388001 }),
  wrongPin: () => detailed(400, 133005, 'Two step verification PIN Mismatch', 'Two step verification PIN Mismatch'),
  pinRefused: (code: 133008 | 133009) =>
    code === 133008
      ? detailed(400, code, 'Too many two step verification PIN guesses', 'Please wait 12 hours and try again.')
      : detailed(400, code, 'Two step verification PIN was guessed too fast', 'Please wait 60 seconds and try again.'),
  mustVerifyAgain: () =>
    detailed(
      400,
      133006,
      'Phone number re-verification needed',
      'Phone number needs to be verified before registering.',
    ),
  tooManyRegistrations: () =>
    detailed(
      400,
      133016,
      'Account registration deregistration rate limit exceeded',
      'Registration or deregistration failed because there were too many attempts for this phone number in a short period of time. It is blocked for 72 hours.',
    ),
  deletedLately: () =>
    detailed(
      400,
      133015,
      'Please wait a few minutes before attempting to register this phone number',
      'Please wait a few minutes before attempting to register this phone number.',
    ),
  undeliverable: () => fixedRefusal(131026),
  windowClosed: () => fixedRefusal(131047),
  notAllBlocked: () =>
    detailed(
      400,
      139100,
      'Failed to block/unblock users',
      'Failed to block some users, see the block_users response list for details',
    ),
  throughput: () => fixedRefusal(130429),
  pairRate: () => fixedRefusal(131056),
  parameterCount: (details: string) =>
    detailed(400, 132000, 'Number of parameters does not match the expected number of params', details),
  unknownTemplate: (name: string, language: string) =>
    detailed(
      404,
      132001,
      'Template name does not exist in the translation',
      `template name (${name}) does not exist in ${language}`,
    ),
  parameterFormat: (details: string) =>
    detailed(400, 132012, 'Parameter format does not match format in the created template', details),
  needsNumber: () => fixedRefusal(131062),
  /** A template that cannot be created, edited or deleted; `title` and `text` are for people. */
  template: (title: string, text: string, subcode?: number) =>
    plain(400, {
      message: 'Invalid parameter',
      code: 100,
      ...(subcode !== undefined && { error_subcode: subcode }),
      is_transient: false,
      error_user_title: title,
      error_user_msg: text,
    }),
  pausedTemplate: () => fixedRefusal(132015),
  disabledTemplate: () => fixedRefusal(132016),
}

/** The response for an error with fixed texts. Throws for an unknown code. */
export function fixedRefusal(code: number): Refusal {
  const { status, title, details, subcode } = fixedError(code)
  return plain(status, {
    message: `(#${code}) ${title}`,
    code,
    ...(details !== null && { error_data: { messaging_product: 'whatsapp', details } }),
    ...(subcode !== undefined && { error_subcode: subcode }),
  })
}

/** The same error in a status callback. */
export function fixedCallbackError(code: number): CallbackError {
  const { title, details } = fixedError(code)
  return { code, title, message: title, error_data: { details: details ?? title } }
}

function detailed(status: number, code: number, title: string, details: string): Refusal {
  return plain(status, {
    message: `(#${code}) ${title}`,
    code,
    error_data: { messaging_product: 'whatsapp', details },
  })
}

function plain(status: number, { message, ...rest }: ErrorFields): Refusal {
  return { status, body: { error: { message, type: 'OAuthException', ...rest, fbtrace_id: newTraceId() } } }
}
