/** An error with fixed texts; `details` is null if the upstream gives only a title. */
export interface FixedError {
  /** The HTTP status, if the error is an answer and not a status callback. */
  status: number
  title: string
  details: string | null
  subcode?: number
}

/** The errors by code. Details that are not published follow the upstream's list of errors. */
const fixedErrors: Record<number, FixedError> = {
  1: { status: 400, title: 'An unknown error occurred', details: null },
  2: { status: 503, title: 'Service temporarily unavailable', details: null },
  4: { status: 400, title: 'Application request limit reached', details: null },
  10: { status: 403, title: 'Application does not have permission for this action', details: null },
  190: { status: 401, title: 'Error validating access token: Session has expired', details: null },
  368: { status: 403, title: 'Temporarily blocked for policies violations', details: null },
  80007: { status: 400, title: 'There have been too many calls from this business account', details: null },
  130429: {
    status: 400,
    title: 'Rate limit hit',
    details: 'Cloud API message throughput has been reached.',
    subcode: 2494055,
  },
  130472: {
    status: 400,
    title: "User's number is part of an experiment",
    details: "Message was not sent because the recipient's number is part of an experiment.",
  },
  130497: {
    status: 403,
    title: 'Business account is restricted from messaging users in this country',
    details: 'Business account is restricted from messaging users in this country.',
  },
  131000: {
    status: 500,
    title: 'Something went wrong',
    details: 'Message failed to send due to an unknown error.',
  },
  131005: { status: 403, title: 'Access denied', details: 'Permission is either not granted or has been removed.' },
  131016: { status: 500, title: 'Service unavailable', details: 'A service is temporarily unavailable.' },
  131026: { status: 400, title: 'Message undeliverable', details: 'Message Undeliverable.' },
  131031: {
    status: 403,
    title: 'Business Account locked',
    details: 'The business account has been locked for violating a policy.',
  },
  131037: {
    status: 400,
    title: 'WhatsApp provided number needs display name approval before message can be sent',
    details: 'The 555 number of this message has no approved display name.',
  },
  131042: { status: 400, title: 'Business eligibility payment issue', details: 'There is no valid payment method.' },
  131047: {
    status: 400,
    title: 'Re-engagement message',
    details:
      'Message failed to send because more than 24 hours have passed since the customer last replied to this number.',
  },
  131048: {
    status: 400,
    title: 'Spam rate limit hit',
    details: 'Message failed to send because there are restrictions on how many messages can be sent from this number.',
  },
  131049: {
    status: 400,
    title: 'This message was not delivered to maintain healthy ecosystem engagement.',
    details: 'In order to maintain a healthy ecosystem engagement, the message failed to be delivered.',
  },
  131050: {
    status: 400,
    title: 'Unable to deliver the message',
    details: 'This recipient has chosen to stop receiving marketing messages from your business.',
  },
  131053: { status: 400, title: 'Media upload error', details: 'The media of the message could not be processed.' },
  131056: {
    status: 400,
    title: '(Business Account, Consumer Account) pair rate limit hit',
    details:
      'Message failed to send because there were too many messages sent from this phone number to the same phone number in a short period of time.',
  },
  131057: {
    status: 500,
    title: 'Account in maintenance mode',
    details: 'The business account is in maintenance mode.',
  },
  131062: {
    status: 400,
    title: 'Business-scoped User ID recipients are not supported for this message.',
    details: 'Business-scoped User ID recipients are not supported for this message.',
  },
  132015: {
    status: 400,
    title: 'Template is Paused',
    details: 'The template is paused because of its low quality and cannot be sent.',
  },
  132016: {
    status: 400,
    title: 'Template is Disabled',
    details: 'The template was paused too many times and is disabled for good.',
  },
}

/** All codes, ascending. */
export const fixedCodes = Object.keys(fixedErrors).map(Number)

/** Throws if the code is not in `fixedCodes`. */
export function fixedError(code: number): FixedError {
  const error = fixedErrors[code]
  if (!error) throw new Error(`There is no error ${code}`)
  return error
}
