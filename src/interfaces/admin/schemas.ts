import { Type } from 'typebox'
import { createResponses } from '../../http/answers/responses.js'
import { errorSchema } from '../../http/description/error-schema.js'
import { named, successAnswer } from '../../http/description/name-schemas.js'
import { ConnectionStep, numberStateFields, OwnNumberSchema } from '../../http/description/number-schemas.js'
import { IdParams, Nullable } from '../../model/fields.js'
import { MEMBER_ROLES } from '../../model/organizations/member.js'
import {
  ChangeOrganization,
  ConnectNumber,
  CreateKey,
  CreateMember,
  CreateOrganization,
  PreviewRetention,
  PutStorefront,
  PutUpstream,
  ReadHealth,
  RotateKey,
  SetHold,
} from '../../model/organizations/operator-input.js'
import { SCOPES } from '../../model/organizations/scope.js'
import type { ProblemCode } from '../../model/problem.js'

/** The problems that this interface has. */
const CODES: readonly ProblemCode[] = [
  'authorization_required',
  'invalid_api_key',
  'too_many_requests',
  'organization_not_found',
  'invalid_parameter',
  'invalid_json',
  'unsupported_media_type',
  'payload_too_large',
  'missing_field',
  'invalid_field',
  'api_key_not_found',
  'api_key_ended',
  'member_not_found',
  'last_owner',
  'already_taken',
  'number_in_use',
  'request_in_progress',
  'legal_hold',
  'upstream_credentials',
  'upstream_unavailable',
  'storefront_credentials',
  'storefront_unavailable',
  'not_found',
  'method_not_allowed',
  'organization_suspended',
  'service_unavailable',
  'internal',
]

const describe = createResponses(
  errorSchema((code) => CODES.includes(code)),
  {
    400: 'The request is not valid; `message` says why',
    401: 'The admin token is missing or wrong',
    403: 'Not used at present',
    404: 'The organization, key or member does not exist',
    409: 'The value is taken, or the state does not allow this',
    429: 'Too many wrong admin tokens from this address: try again after Retry-After seconds',
    500: 'The service failed',
    503: 'The service is not available: try again after Retry-After seconds',
  },
)

const Uuid = Type.String({ format: 'uuid' })
const DateTime = Type.String({ format: 'date-time' })

const Organization = named(
  'Organization',
  Type.Object({
    id: Uuid,
    name: Type.String(),
    slug: Type.String({ description: 'The short name, which is also the tenantId of the API' }),
    provider: Nullable(Type.Enum(['upstream', 'gateway'])),
    default_country: Type.String({ description: 'ISO 3166 alpha-2: national phone numbers are read by it' }),
    timezone: Type.String({ description: 'IANA name: the days of analytics are days of this time zone' }),
    currency: Type.String({ description: 'ISO 4217' }),
    language: Type.String({ description: 'The preferred language of templates' }),
    attribution_window_days: Type.Integer({
      description: 'How many days after a click, or after the message, an order still counts for a broadcast',
    }),
    retention_days: Type.Integer({
      description: 'How many days raw callbacks, events and webhook deliveries are kept',
    }),
    message_retention_days: Nullable(
      Type.Integer({ description: 'How many days after its recording a message is deleted; null: never' }),
    ),
    media_retention_days: Nullable(
      Type.Integer({
        description: 'How many days after the recording of its message a file is removed; null: with the message',
      }),
    ),
    legal_hold: Nullable(
      named(
        'LegalHold',
        Type.Object(
          {
            reason: Type.String(),
            by: Type.String({ description: 'Who set it' }),
            since: DateTime,
          },
          { description: 'While it is on, nothing of the organization is deleted' },
        ),
      ),
    ),
    suspended_at: Nullable(DateTime),
    created_at: DateTime,
    updated_at: DateTime,
  }),
)

const PreviewedKind = named(
  'PreviewedKind',
  Type.Object({
    kind: Type.Enum(['callbacks', 'events', 'webhook_deliveries', 'files', 'messages']),
    days: Nullable(Type.Integer({ description: 'After how many days they are deleted; null: never' })),
    rows: Type.Integer({ description: 'How many would be deleted' }),
    rows_are: Type.Enum(['exact', 'at least'], { description: 'Very many are not counted to the end' }),
    bytes: Type.Integer({ description: 'Estimated from some of them' }),
    oldest: Nullable(DateTime),
  }),
)

const Upstream = named(
  'Upstream',
  Type.Object({
    phone_number_id: Type.String(),
    business_account_id: Type.String(),
    messages_per_second: Type.Integer({ description: '0: sends are not limited' }),
    pair_limit: Type.Boolean({ description: 'Whether messages to the same person are spaced' }),
  }),
)

const NumberHealth = named(
  'NumberHealth',
  Type.Object({
    ...numberStateFields,
    last_send_at: Nullable(Type.String({ format: 'date-time', description: 'Among its newest 1,000 messages' })),
  }),
)

const Storefront = named('Storefront', Type.Object({ url: Type.String() }))

const keyFields = {
  id: Uuid,
  name: Type.String(),
  prefix: Type.String({ description: 'The beginning of the key' }),
  scopes: Type.Array(Type.Enum([...SCOPES])),
  created_at: DateTime,
  expires_at: Nullable(DateTime),
  revoked_at: Nullable(DateTime),
  last_used_at: Nullable(DateTime),
}
const ApiKey = named('ApiKey', Type.Object(keyFields))
const IssuedApiKey = named(
  'IssuedApiKey',
  Type.Object({ ...keyFields, key: Type.String({ description: 'parley_…: shown only once' }) }),
)

const Member = named(
  'Member',
  Type.Object({
    id: Uuid,
    email: Type.String(),
    full_name: Type.String(),
    role: Type.Enum([...MEMBER_ROLES]),
    has_password: Type.Boolean({ description: 'False if the member can sign in by link only' }),
    created_at: DateTime,
    updated_at: DateTime,
  }),
)

const SignInLink = named(
  'SignInLink',
  Type.Object({ url: Type.String({ description: 'Signs the member in, once' }), expires_at: DateTime }),
)

const OrganizationAnswer = successAnswer('OrganizationAnswer', { organization: Organization })
const StorefrontAnswer = successAnswer('StorefrontAnswer', { storefront: Nullable(Storefront) })
const KeyAnswer = successAnswer('IssuedApiKeyAnswer', { api_key: IssuedApiKey })
const DoneAnswer = successAnswer('DoneAnswer', { message: Type.String() })

export const createOrganization = {
  operationId: 'organizations.create',
  summary: 'Create an organization',
  body: named('CreateOrganization', CreateOrganization),
  response: describe({ 201: OrganizationAnswer }, 400, 409),
}

export const listOrganizations = {
  operationId: 'organizations.list',
  summary: 'List the organizations',
  response: describe({ 200: successAnswer('OrganizationsAnswer', { organizations: Type.Array(Organization) }) }),
}

export const getOrganization = {
  operationId: 'organizations.get',
  summary: 'Read an organization',
  params: IdParams,
  response: describe({ 200: OrganizationAnswer }, 404),
}

export const changeOrganization = {
  operationId: 'organizations.update',
  summary: 'Change an organization',
  params: IdParams,
  body: named('ChangeOrganization', ChangeOrganization),
  response: describe({ 200: OrganizationAnswer }, 400, 404, 409),
}

export const deleteOrganization = {
  operationId: 'organizations.delete',
  summary: 'Delete an organization and all its data',
  description: 'The organization is gone at once. Its data is removed within minutes.',
  params: IdParams,
  response: describe({ 200: DoneAnswer }, 404, 409),
}

export const previewRetention = {
  operationId: 'organizations.previewRetention',
  summary: 'Count what retention would delete now',
  description:
    'With the days that are set, or with the days in the body. Changes nothing. While a legal hold is on, nothing would be deleted.',
  params: IdParams,
  body: named('PreviewRetention', PreviewRetention),
  response: describe({ 200: successAnswer('RetentionPreview', { kinds: Type.Array(PreviewedKind) }) }, 400, 404),
}

export const setHold = {
  operationId: 'organizations.setHold',
  summary: 'Set a legal hold',
  description:
    'Until it is released, nothing of the organization is deleted: retention has no effect, and deleting the organization, a contact or a message is refused with 409 Legal hold.',
  params: IdParams,
  body: named('SetHold', SetHold),
  response: describe({ 200: OrganizationAnswer }, 400, 404, 409),
}

export const releaseHold = {
  operationId: 'organizations.releaseHold',
  summary: 'Release the legal hold',
  params: IdParams,
  response: describe({ 200: OrganizationAnswer }, 404, 409),
}

export const connectUpstream = {
  operationId: 'organizations.connectUpstream',
  summary: "Connect the organization's number at WhatsApp",
  description: 'The access token, app secret and verify token are stored encrypted and never returned.',
  params: IdParams,
  body: named('ConnectUpstream', PutUpstream),
  response: describe(
    { 200: successAnswer('UpstreamAnswer', { organization: Organization, upstream: Upstream }) },
    400,
    404,
    409,
  ),
}

export const connectNumber = {
  operationId: 'organizations.connectNumber',
  summary: "Connect the organization's number, and find out the rest",
  description:
    'With an access token and the app secret (`further`: those of the first number, if they are left out): finds the number that the token reaches, stores the credentials, has WhatsApp call this service, and registers the number if a PIN is given. Answers what each step has found, what to do, and where; a step that another one needs and that failed is the last of its kind. What must be decided is a step with the state choose: call again with its field. What is done already stays, so it can be repeated. Nothing that belongs to another program is changed unless it was chosen. Takes up to 25 seconds.',
  params: IdParams,
  body: named('ConnectNumber', ConnectNumber),
  response: describe(
    {
      200: successAnswer('ConnectionAnswer', {
        connected: Type.Boolean({ description: 'Whether nothing failed and nothing is left to choose' }),
        upstream: Nullable(Upstream),
        steps: Type.Array(ConnectionStep),
      }),
    },
    400,
    404,
    409,
  ),
}

export const getHealth = {
  operationId: 'organizations.getHealth',
  summary: "Read whether the organization's numbers stay connected",
  description:
    'What the last check has found: once an hour, and after connecting. A change raises the event number.updated.',
  params: IdParams,
  querystring: ReadHealth,
  response: describe({ 200: successAnswer('HealthAnswer', { numbers: Type.Array(NumberHealth) }) }, 400, 404),
}

export const listNumbers = {
  operationId: 'organizations.listNumbers',
  summary: "List the organization's business numbers, the first one first",
  params: IdParams,
  response: describe({ 200: successAnswer('NumbersAnswer', { numbers: Type.Array(OwnNumberSchema) }) }, 404),
}

export const removeNumber = {
  operationId: 'organizations.removeNumber',
  summary: 'Disconnect a business number that is not the first',
  description: 'Its conversations stay. Refused while scheduled messages or broadcasts are to be sent from it.',
  params: Type.Object({ ...IdParams.properties, phoneNumberId: Type.String({ minLength: 1, maxLength: 64 }) }),
  response: describe({ 200: DoneAnswer }, 400, 404, 409),
}

export const getStorefront = {
  operationId: 'organizations.getStorefront',
  summary: 'Read the connection to the storefront; null if there is none',
  params: IdParams,
  response: describe({ 200: StorefrontAnswer }, 404),
}

export const connectStorefront = {
  operationId: 'organizations.connectStorefront',
  summary: "Connect the organization's storefront",
  description: 'The access token and the webhook secret are stored encrypted and never returned.',
  params: IdParams,
  body: named('ConnectStorefront', PutStorefront),
  response: describe({ 200: StorefrontAnswer }, 400, 404),
}

export const createKey = {
  operationId: 'keys.create',
  summary: 'Create an API key',
  description: 'Without scopes the key may do everything. Without expires_at it is valid until it is revoked.',
  params: IdParams,
  body: named('CreateKey', CreateKey),
  response: describe({ 201: KeyAnswer }, 400, 404),
}

export const listKeys = {
  operationId: 'keys.list',
  summary: 'List the API keys of an organization',
  params: IdParams,
  response: describe({ 200: successAnswer('ApiKeysAnswer', { api_keys: Type.Array(ApiKey) }) }, 404),
}

export const rotateKey = {
  operationId: 'keys.rotate',
  summary: 'Replace an API key with a new one',
  description: 'The old key stays valid for overlap_seconds.',
  params: IdParams,
  body: named('RotateKey', RotateKey),
  response: describe({ 201: KeyAnswer }, 400, 404, 409),
}

export const revokeKey = {
  operationId: 'keys.revoke',
  summary: 'Revoke an API key',
  params: IdParams,
  response: describe({ 200: successAnswer('RevokedApiKeyAnswer', { message: Type.String(), api_key: ApiKey }) }, 404),
}

export const createMember = {
  operationId: 'members.create',
  summary: 'Add a member to the team',
  params: IdParams,
  body: named('CreateMember', CreateMember),
  response: describe({ 201: successAnswer('MemberAnswer', { member: Member }) }, 400, 404, 409),
}

export const listMembers = {
  operationId: 'members.list',
  summary: 'List the members of the team',
  params: IdParams,
  response: describe({ 200: successAnswer('MembersAnswer', { members: Type.Array(Member) }) }, 404),
}

export const createSignInLink = {
  operationId: 'members.createSignInLink',
  summary: 'Create a link that signs a member in to the console, once and within a day',
  params: IdParams,
  response: describe({ 201: successAnswer('SignInLinkAnswer', { link: SignInLink }) }, 404),
}

export const removeMember = {
  operationId: 'members.remove',
  summary: 'Remove a member from the team',
  params: IdParams,
  response: describe({ 200: DoneAnswer }, 404, 409),
}
