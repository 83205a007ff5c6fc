import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { checkAccount } from '../authorization.js'
import type { Context } from '../context.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { refuse } from '../errors/refuse.js'
import type { ObjectRoute } from '../media/api.js'
import type { StoredTemplate } from './store.js'

type Query = Partial<Record<string, string | string[]>>
type ListRoute = { Params: { version: string; accountId: string }; Querystring: Query }

const fieldNames = [
  ...['id', 'name', 'language', 'status', 'category', 'parameter_format', 'components', 'rejected_reason'],
  ...['sub_category', 'previous_category', 'quality_score', 'library_template_name'],
]
/** The fields returned by default. */
const defaultFields = ['name', 'components', 'language', 'status', 'category', 'id']
const filters = ['name', 'language', 'status', 'category'] as const

const defaultLimit = 25
/** From this version on, an invalid cursor has a separate code. */
const firstVersionWithCursorError = 24

/** The upstream's endpoint that lists the templates of a business account. */
export function templatesApi(app: FastifyInstance, context: Context): void {
  app.get<ListRoute>('/:version(^v\\d+\\.\\d+$)/:accountId/message_templates', (request, reply) => {
    const page = listTemplates(context, request)
    return 'body' in page ? refuse(reply, page) : reply.send(page)
  })
}

/** Answers one template by its id. */
export function describeTemplate(
  context: Context,
  { params, query, method, headers }: FastifyRequest<ObjectRoute>,
  reply: FastifyReply,
): FastifyReply {
  const { id } = params
  const known = context.templates.findById(id)
  if (!known) return refuse(reply, refusals.unknownObject(method, id))
  const unauthorized = checkAccount(context, known.accountId, headers.authorization, { method, id })
  if (unauthorized) return refuse(reply, unauthorized)
  const fields = readFields(String(query.fields ?? ''))
  return 'body' in fields ? refuse(reply, fields) : reply.send(pick(known.template, fields))
}

interface Page {
  data: object[]
  paging?: { cursors: { before: string; after: string }; next?: string }
}

function listTemplates(context: Context, request: FastifyRequest<ListRoute>): Page | Refusal {
  const { params, query, headers } = request
  const named = { method: request.method, id: params.accountId }
  const unauthorized = checkAccount(context, params.accountId, headers.authorization, named)
  if (unauthorized) return unauthorized
  const options = readQuery(query, params.version)
  if ('body' in options) return options
  const matching = context.templates
    .list(params.accountId, options.after)
    .filter(({ template }) => filters.every((name) => query[name] === undefined || query[name] === template[name]))
  const shown = matching.slice(0, options.limit)
  const [first, last] = [shown[0], shown.at(-1)]
  const data = shown.map(({ template }) => pick(template, options.fields))
  if (!first || !last) return { data }
  const cursors = { before: cursorOf(first.position), after: cursorOf(last.position) }
  const hasMore = matching.length > shown.length
  return { data, paging: { cursors, ...(hasMore ? { next: nextUrl(request, cursors.after) } : {}) } }
}

interface ListOptions {
  fields: string[]
  limit: number
  /** The position after which the page starts. */
  after: number
}

function readQuery(query: Query, version: string): ListOptions | Refusal {
  const twice = Object.keys(query).find((name) => Array.isArray(query[name]))
  if (twice !== undefined) return refusals.invalidParameter(`Param ${twice} must be given once.`)
  const { fields = '', limit = String(defaultLimit), after } = query as Partial<Record<string, string>>
  const wanted = readFields(fields)
  if ('body' in wanted) return wanted
  if (!/^[1-9]\d{0,5}$/.test(limit)) return refusals.invalidParameter('Param limit must be an integer from 1 on.')
  const position = after === undefined ? 0 : positionOf(after)
  if (position === null) return invalidCursor(version)
  return { fields: wanted, limit: Number(limit), after: position }
}

function readFields(fields: string): string[] | Refusal {
  const wanted = fields === '' ? defaultFields : [...fields.split(',').map((field) => field.trim()), 'id']
  const unknownName = wanted.find((field) => !fieldNames.includes(field))
  return unknownName === undefined ? wanted : refusals.unknownField(unknownName, 'WhatsAppMessageTemplate')
}

function invalidCursor(version: string): Refusal {
  const isNew = Number.parseInt(version.slice(1), 10) >= firstVersionWithCursorError
  return isNew ? refusals.invalidCursor() : refusals.invalidParameter('Param after is not a cursor of this list.')
}

function pick(template: StoredTemplate, fields: string[]): object {
  return Object.fromEntries(Object.entries(template).filter(([name]) => fields.includes(name)))
}

function cursorOf(position: number): string {
  return Buffer.from(`place ${position}`).toString('base64url')
}

function positionOf(cursor: string): number | null {
  const position = /^place (\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1]
  return position === undefined ? null : Number(position)
}

/** The URL of the same list after the cursor. */
function nextUrl({ protocol, host, url }: FastifyRequest<ListRoute>, after: string): string {
  const next = new URL(url, `${protocol}://${host}`)
  next.searchParams.set('after', after)
  return next.href
}
