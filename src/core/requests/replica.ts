import type { Context } from '../../context.js'

/** The context for reads that may show what was true a moment ago: they run on the replica, if there is one. */
export function onReplica<Ctx extends Pick<Context, 'database' | 'replica'>>(ctx: Ctx): Ctx {
  return { ...ctx, database: ctx.replica }
}
