import type { CountryCode } from 'libphonenumber-js/max'
import { type Static, Type } from 'typebox'
import { readIsoTime } from '../../lib/text/iso-time.js'
import { Email } from '../contacts/contact-input.js'
import { isCountryCode } from '../contacts/phone-number.js'
import { MAX_NUMBER_INPUT } from '../contacts/written-number.js'
import { Nullable } from '../fields.js'
import { Problem } from '../problem.js'
import { MEMBER_ROLES } from './member.js'
import { DEFAULT_MESSAGES_PER_SECOND } from './rate.js'
import { SCOPES } from './scope.js'

/** The input of operators, for the admin API and the command line. */

const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength })

/** Ten years at most; null: for ever. */
const RetentionDays = Nullable(Type.Integer({ minimum: 1, maximum: 3_650 }))

const organizationFields = {
  name: Text(200),
  slug: Type.String({
    pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
    description: 'must be 1 to 63 lower-case letters, digits and hyphens, not beginning with a hyphen',
  }),
  provider: Type.Optional(Nullable(Type.Enum(['upstream', 'gateway']))),
  default_country: Type.Optional(
    Type.String({ pattern: '^[A-Z]{2}$', description: 'must be a country code such as BR' }),
  ),
  timezone: Type.Optional(Text(64)),
  currency: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$', description: 'must be a currency code such as BRL' })),
  language: Type.Optional(
    Type.String({ pattern: '^[a-z]{2,3}([_-][A-Za-z0-9]{2,8})*$', description: 'must be a language such as pt_BR' }),
  ),
  attribution_window_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 90 })),
  retention_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365 })),
  message_retention_days: Type.Optional(RetentionDays),
  media_retention_days: Type.Optional(RetentionDays),
}

/** `country` is another name for `default_country`, used by the command line. */
export const CreateOrganization = Type.Object({ ...organizationFields, country: organizationFields.default_country })
export const ChangeOrganization = Type.Partial(CreateOrganization)

const {
  slug: _slug,
  provider: _provider,
  country: _country,
  retention_days: _retention,
  message_retention_days: _messageRetention,
  media_retention_days: _mediaRetention,
  ...ownFields
} = ChangeOrganization.properties

/** The fields that an owner may change; the others are the operator's. */
export const ChangeOwnOrganization = Type.Object(ownFields)

/** Days that a preview takes instead of those that are set. */
export const PreviewRetention = Type.Object({
  retention_days: organizationFields.retention_days,
  message_retention_days: organizationFields.message_retention_days,
  media_retention_days: organizationFields.media_retention_days,
})

/** `by`: who sets it; the command line has the name of the system's user as the default. */
export const SetHold = Type.Object({ reason: Text(500), by: Type.Optional(Text(200)) })

/** The given days, without unknown fields. */
export function readRetentionDays(input: Static<typeof PreviewRetention>): Record<string, number | null> {
  const given = Object.entries(input).filter(
    ([name, days]) => Object.hasOwn(PreviewRetention.properties, name) && days !== undefined,
  )
  return Object.fromEntries(given) as Record<string, number | null>
}

export const ReleaseHold = Type.Object({ by: Text(200) })

type OrganizationInput = Static<typeof ChangeOrganization>

/**
 * The given fields of an organization, without unknown ones. Throws invalid_field for values that a pattern cannot
 * check: a country, time zone or currency that does not exist, or two countries.
 */
export function readOrganizationFields<Input extends OrganizationInput>(input: Input) {
  const given = { ...input, default_country: readCountry(input) }
  checkPlace(given)
  const known = Object.entries(given).filter(
    ([name, value]) => Object.hasOwn(organizationFields, name) && value !== undefined,
  )
  return Object.fromEntries(known) as Omit<Input, 'default_country' | 'country'> & { default_country?: CountryCode }
}

function readCountry({ default_country, country = default_country }: OrganizationInput): string | undefined {
  if (default_country === undefined || country === default_country) return country
  throw new Problem(
    'invalid_field',
    `default_country "${default_country}" and country "${country}" are two names for one setting: give one of them`,
  )
}

/** The same for the fields that an owner may change. */
export function readOwnOrganizationFields(input: Static<typeof ChangeOwnOrganization>) {
  const own = Object.entries(input).filter(([name]) => Object.hasOwn(ownFields, name))
  return readOrganizationFields(Object.fromEntries(own) as typeof input)
}

function checkPlace({ default_country: country, timezone, currency }: OrganizationInput): void {
  if (country !== undefined && !isCountryCode(country)) {
    throw new Problem('invalid_field', `default_country "${country}" is not a country whose phone numbers can be read`)
  }
  if (timezone !== undefined && !isTimeZone(timezone)) {
    throw new Problem('invalid_field', `timezone "${timezone}" is not a time zone: give one such as America/Sao_Paulo`)
  }
  if (currency !== undefined && !Intl.supportedValuesOf('currency').includes(currency)) {
    throw new Problem('invalid_field', `currency "${currency}" is not a currency: give one such as BRL`)
  }
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

const upstreamIds = {
  // Ids of simulated phones contain a slash.
  phone_number_id: Type.String({
    minLength: 1,
    maxLength: 64,
    pattern: '^[^/\\s]+$',
    description: 'must be the id of a number at the upstream, such as 106540352242922: no slashes, no spaces',
  }),
  business_account_id: Text(64),
}
const upstreamSecrets = { access_token: Text(2048), app_secret: Text(256), verify_token: Text(256) }
const upstreamRate = {
  messages_per_second: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
  pair_limit: Type.Optional(Type.Boolean()),
}

export const PutUpstream = Type.Object({ ...upstreamIds, ...upstreamSecrets, ...upstreamRate })

/** For a connection that may exist already. */
export const ChangeUpstream = Type.Object({
  ...upstreamIds,
  ...Type.Partial(Type.Object(upstreamSecrets)).properties,
  ...upstreamRate,
})

/** The parts of a connection to be tested. */
export const TestUpstream = Type.Partial(PutUpstream)

/** How callbacks come here if the app's address belongs to another program. */
export const CALLBACK_WAYS = ['app', 'account', 'number', 'none'] as const

/** A connection that finds out the rest by itself; each field but the first decides what it could not. */
export const ConnectNumber = Type.Partial(
  Type.Object({
    access_token: Type.String({ ...upstreamSecrets.access_token, description: 'Without it, the stored one' }),
    app_secret: Type.String({ ...upstreamSecrets.app_secret, description: 'Without it, the stored one' }),
    business_account_id: Type.String({
      ...upstreamIds.business_account_id,
      description: 'If WhatsApp does not list the account',
    }),
    phone_number_id: Type.String({
      ...upstreamIds.phone_number_id,
      description: 'must be an id, without slashes and spaces: given if the token reaches several numbers',
    }),
    pin: Type.String({
      pattern: '^[0-9]{6}$',
      description: 'must be six digits: registers the number, if it is not. It is not stored',
    }),
    callbacks: Type.Enum([...CALLBACK_WAYS], {
      description:
        "If the app's callback URL or an override belongs to another program: which address is changed to Parley's",
    }),
    choose: Type.Boolean({
      description:
        'Without phone_number_id: lists the numbers that the token reaches, and connects none, even if one is connected already or only one is reached',
    }),
    further: Type.Boolean({
      description: 'Connect a number beside those that are connected, instead of the first one',
    }),
    verify_token: Type.String({
      ...upstreamSecrets.verify_token,
      description: 'By default a random one; it counts once WhatsApp has verified the address with it',
    }),
    send_to: Type.String({
      minLength: 1,
      maxLength: MAX_NUMBER_INPUT,
      description:
        'A phone number of yours: when all else is done, the number sends a message to it, and the step `sent` tells what came of it within 10 seconds',
    }),
  }),
)

/** How the health of a number is read. */
export const ReadHealth = Type.Object({
  refresh: Type.Optional(Type.Enum(['true', 'false'], { description: 'true: checks now; takes up to 25 seconds' })),
})

export type ConnectionChoices = Static<typeof ConnectNumber>

/** The organization's number and credentials at the upstream, decrypted. */
export interface UpstreamCredentials {
  phone_number_id: string
  business_account_id: string
  access_token: string
  app_secret: string
  verify_token: string
  /** 0: unlimited. */
  messages_per_second: number
  pair_limit: boolean
}

export type UpstreamChanges = Static<typeof ChangeUpstream>

/** The credentials with defaults filled in. */
export function readUpstreamCredentials(input: Static<typeof PutUpstream>): UpstreamCredentials {
  const { phone_number_id, business_account_id, access_token, app_secret, verify_token } = input
  const { messages_per_second = DEFAULT_MESSAGES_PER_SECOND, pair_limit = true } = input
  const secrets = { access_token, app_secret, verify_token }
  return { phone_number_id, business_account_id, ...secrets, messages_per_second, pair_limit }
}

const storefrontUrl = Type.String({
  maxLength: 2048,
  format: 'uri',
  pattern: '^https?://[^@?#\\s]+$',
  description: 'must be an http or https URL without user name, query and fragment',
  'x-pattern': 'shop_url',
})
const storefrontSecrets = {
  access_token: Type.String({
    maxLength: 2048,
    pattern: '^[\\x21-\\x7e]+$',
    description: 'must consist of visible ASCII characters',
  }),
  webhook_secret: Text(256),
}

export const PutStorefront = Type.Object({ url: storefrontUrl, ...storefrontSecrets })

/** For a connection that may exist already. */
export const ChangeStorefront = Type.Object({
  url: storefrontUrl,
  ...Type.Partial(Type.Object(storefrontSecrets)).properties,
})

/** The parts of a connection to be tested. */
export const TestStorefront = Type.Partial(PutStorefront)

export const CreateKey = Type.Object({
  name: Text(200),
  scopes: Type.Optional(Type.Array(Type.Enum([...SCOPES]), { minItems: 1, maxItems: SCOPES.length })),
  expires_at: Type.Optional(Nullable(Type.String({ format: 'date-time' }))),
})

/** The fields of a new key; without an expiry it works until it is revoked. */
export function readKeyFields({ name, scopes, expires_at }: Static<typeof CreateKey>) {
  return { name, scopes, expires_at: expires_at ? (readIsoTime(expires_at)?.at ?? null) : null }
}

const MAX_OVERLAP_SECONDS = 30 * 86_400

export const RotateKey = Type.Object({
  overlap_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_OVERLAP_SECONDS })),
})

/** A new password; existing ones may be shorter. */
export const Password = Type.String({ minLength: 8, maxLength: 256 })

export const CreateMember = Type.Object({
  email: Email,
  full_name: Text(255),
  role: Type.Enum([...MEMBER_ROLES]),
  password: Type.Optional(Password),
})

/** A new member who signs in with a link. */
export const InviteMember = Type.Object({
  email: CreateMember.properties.email,
  full_name: CreateMember.properties.full_name,
  role: CreateMember.properties.role,
})

export const ChangeMember = Type.Object({
  full_name: Type.Optional(CreateMember.properties.full_name),
  role: Type.Optional(CreateMember.properties.role),
})
