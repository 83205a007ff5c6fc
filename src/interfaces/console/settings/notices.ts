import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { listNotices, markNoticeDone } from '../../../core/callbacks/notices.js'
import { sentencesOf } from '../../../core/callbacks/read/describe-notice.js'
import { tenantOf } from '../../../http/access/auth.js'
import { presentNotice } from '../../../model/organizations/notice.js'
import type { ConsoleServer } from '../server.js'

/** `/notices`: what the upstream reported about the account and its numbers, critical ones first; for owners. */
export function noticeRoutes(server: ConsoleServer, ctx: Context): void {
  const config = { role: 'owner' } as const

  server.get('/notices', { config }, async (request) => ({
    success: true,
    notices: (await listNotices(ctx, tenantOf(request))).map((notice) => ({
      ...presentNotice(notice),
      sentences: sentencesOf(notice),
    })),
  }))

  server.post(
    '/notices/:id/close',
    { config, schema: { params: Type.Object({ id: Type.String({ format: 'uuid' }) }) } },
    async (request) => {
      const notice = await markNoticeDone(ctx, tenantOf(request), request.params.id)
      return { success: true, notice: presentNotice(notice) }
    },
  )
}
