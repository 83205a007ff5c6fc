import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.js'
import { answerQuery } from './graphql.js'
import { restOrder, type ShopOrder } from './order.js'
import { type ListQuery, listOrders } from './rest-list.js'
import { isListRefused } from './throttle.js'

type ListRoute = { Querystring: ListQuery }
type OrderRoute = { Params: { id: string }; Querystring: { fields?: string | string[] } }

/** Any other token is accepted. */
const refusedToken = 'refused-token'

/** The storefront's admin API, for every version of it (`/admin/api/2026-07/…`). */
export function storefrontApi(app: FastifyInstance, context: Context): void {
  const { settings, orders } = context
  app.setNotFoundHandler((_request, reply) => refuse(reply, 404, 'Not Found'))
  app.addHook('onRequest', async (request, reply) => {
    if (settings.shop_answers === 'silent') return reply.hijack()
    if (settings.shop_answers === 'down') return refuse(reply, 503, 'Service Unavailable')
    const token = request.headers['x-shopify-access-token']
    if (token === undefined || token === '' || token === refusedToken) {
      return refuse(reply, 401, '[API] Invalid API key or access token (unrecognized login or wrong password)')
    }
  })

  app.post('/admin/api/:version(^\\d{4}-\\d{2}$)/graphql.json', (request, reply) => {
    if (!settings.shop_graphql) return refuse(reply, 404, 'Not Found')
    const answer = answerQuery(String(request.body), orders, settings)
    return answer ? reply.send(answer) : refuse(reply, 400, { query: 'Required parameter missing or invalid' })
  })

  app.get<ListRoute>('/admin/api/:version(^\\d{4}-\\d{2}$)/orders.json', (request, reply) =>
    answerList(context, request, reply),
  )

  app.get<OrderRoute>('/admin/api/:version(^\\d{4}-\\d{2}$)/orders/:id(^\\d+).json', (request, reply) => {
    if (settings.shop_answers === 'limited') return refuseAsTooMany(reply)
    const order = orders.find(Number(request.params.id))
    return order ? reply.send({ order: pick(order, request.query.fields) }) : refuse(reply, 404, 'Not Found')
  })
}

function answerList(
  { orders, settings }: Context,
  request: FastifyRequest<ListRoute>,
  reply: FastifyReply,
): FastifyReply {
  if (settings.shop_answers === 'limited' || isListRefused(settings)) return refuseAsTooMany(reply)
  const page = listOrders(orders.all(), request.query)
  if ('errors' in page) return refuse(reply, 400, page.errors)
  const base = `${request.protocol}://${request.host}${request.url.split('?')[0]}`
  const links = page.beside.map(({ rel, query }) => `<${base}?${query}>; rel="${rel}"`)
  if (links.length > 0) reply.header('link', links.join(', '))
  return reply.send({ orders: page.orders.map((order) => pick(order, request.query.fields)) })
}

/** The requested fields (comma-separated), or all fields by default. */
function pick(shopOrder: ShopOrder, fields: string | string[] | undefined): object {
  const order = restOrder(shopOrder)
  if (typeof fields !== 'string' || fields === '') return order
  const wanted = new Set(fields.split(',').map((field) => field.trim()))
  return Object.fromEntries(Object.entries(order).filter(([field]) => wanted.has(field)))
}

function refuseAsTooMany(reply: FastifyReply): FastifyReply {
  return refuse(reply.header('retry-after', '2.0'), 429, 'Exceeded 2 calls per second for api client.')
}

function refuse(reply: FastifyReply, status: number, errors: string | object): FastifyReply {
  return reply.code(status).send({ errors })
}
