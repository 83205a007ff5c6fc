import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { createShortLink, listShortLinks, recoverShortLink } from '../../../core/storefront/short-links.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { CreateShortLink, presentShortLink, type ShortLink } from '../../../model/broadcasts/short-link.js'
import { page } from '../../../model/fields.js'
import { limit, PAGE_SIZE, paginationOf } from '../pagination.js'
import { responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'

const ShortLinkFields = {
  code: Type.String(),
  short_url: Type.String({ description: 'The address to share. The button of a template takes the code alone.' }),
  redirect_url: Type.String(),
}

const ShortLinkAnswer = successAnswer('ShortLinkAnswer', { shortlink: Type.Object(ShortLinkFields) })

const Pagination = paginationOf('totalShortLinks', 'shortLinksPerPage')

const ShortLinksAnswer = successAnswer('ShortLinksAnswer', {
  shortlinks: Type.Array(
    Type.Object({
      ...ShortLinkFields,
      clicks: Type.Integer({ minimum: 0, description: 'HEAD requests and link previews do not count' }),
      created_at: Type.String({ format: 'date-time' }),
    }),
  ),
  pagination: Pagination.schema,
})

/** `/shortlinks`: make one, list them with their clicks. */
export function shortLinkRoutes(server: ApiServer, ctx: Context): void {
  const present = (shortLink: ShortLink) => presentShortLink(shortLink, ctx.publicUrl())

  server.post(
    '/shortlinks',
    {
      config: { scope: 'broadcasts:write' },
      schema: {
        operationId: 'shortLinks.create',
        summary: 'Create a short link that counts its clicks',
        querystring: Type.Object({ tenantId }),
        body: named('CreateShortLink', CreateShortLink),
        response: responses({ 201: ShortLinkAnswer }, 400, 409, 422),
      },
    },
    (request, reply) => {
      const answer = (shortLink: ShortLink) => ({
        status: 201,
        body: { success: true, shortlink: present(shortLink) },
        final: true,
      })
      return answerOnce(ctx, request, reply, {
        perform: async (id) => answer(await createShortLink(ctx, tenantOf(request), request.body, id)),
        recover: async (id) => {
          const shortLink = await recoverShortLink(ctx, tenantOf(request), request.body, id)
          return shortLink && answer(shortLink)
        },
      })
    },
  )

  server.get(
    '/shortlinks',
    {
      config: { scope: 'broadcasts:read' },
      schema: {
        operationId: 'shortLinks.list',
        summary: 'List short links with their clicks, newest first',
        querystring: Type.Object({
          page,
          limit,
          tenantId,
        }),
        response: responses({ 200: ShortLinksAnswer }, 400),
      },
    },
    async (request) => {
      const { page = 1, limit = PAGE_SIZE } = request.query
      const { links, total } = await listShortLinks(ctx, tenantOf(request), { page, limit })
      return {
        success: true,
        shortlinks: links.map((link) => ({
          ...present(link),
          clicks: link.clicks,
          created_at: link.created_at.toISOString(),
        })),
        pagination: Pagination.show(page, limit, total),
      }
    },
  )
}
