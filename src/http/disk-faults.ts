import type { FastifyInstance } from 'fastify'

const LASTING_MS = 60_000

/**
 * Watches the requests of a server for failures because of a full disk. The result tells whether there was one within the
 * last minute. This shows a full disk of another machine, too, whose room cannot be seen from here.
 */
export function watchDiskFaults(server: FastifyInstance): () => boolean {
  let lastAt = Number.NEGATIVE_INFINITY
  server.addHook('onResponse', async ({ faultOf }) => {
    if (faultOf === 'disk') lastAt = performance.now()
  })
  return () => performance.now() - lastAt < LASTING_MS
}
