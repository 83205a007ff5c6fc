import type { FastifyInstance, FastifyRequest } from 'fastify'
import { checkAnyToken } from '../authorization.js'
import type { Context } from '../context.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { refuse } from '../errors/refuse.js'
import { type LibraryTemplate, library } from './library-samples.js'

type ListRoute = { Querystring: Partial<Record<string, string>> }

const filters = ['topic', 'usecase', 'language', 'name'] as const
const defaultLimit = 25

interface Page {
  data: readonly LibraryTemplate[]
  paging?: { cursors: { after: string }; next?: string }
}

/** The upstream's endpoint that lists its library of templates. */
export function libraryApi(app: FastifyInstance, context: Context): void {
  app.get<ListRoute>('/:version(^v\\d+\\.\\d+$)/message_template_library', (request, reply) => {
    const page = list(context, request)
    return 'body' in page ? refuse(reply, page) : reply.send(page)
  })
}

function list(context: Context, request: FastifyRequest<ListRoute>): Page | Refusal {
  const { query, headers, protocol, host, url } = request
  const unauthorized = checkAnyToken(context, headers.authorization)
  if (unauthorized) return unauthorized
  const { limit = String(defaultLimit), after = '0', search = '', industry } = query
  if (!/^[1-9]\d{0,2}$/.test(limit)) return refusals.invalidParameter('Param limit must be an integer from 1 on.')
  if (!/^\d{1,6}$/.test(after)) return refusals.invalidParameter('Param after is not a cursor of this list.')
  const matching = library.filter(
    (one) =>
      filters.every((name) => query[name] === undefined || query[name] === one[name]) &&
      (industry === undefined || one.industry.includes(industry)) &&
      `${one.name} ${one.header ?? ''} ${one.body}`.toLowerCase().includes(search.toLowerCase()),
  )
  const end = Number(after) + Number(limit)
  const data = matching.slice(Number(after), end)
  if (end >= matching.length) return { data }
  const next = new URL(url, `${protocol}://${host}`)
  next.searchParams.set('after', String(end))
  return { data, paging: { cursors: { after: String(end) }, next: next.href } }
}
