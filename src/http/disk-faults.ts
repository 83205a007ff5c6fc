import type { FastifyInstance } from 'fastify'

const LASTING_MS = 60_000

/**
 * Watches the requests of a server for those that failed because a disk is full. The result tells whether one did within
 * the last minute: this shows also a full disk of another machine, whose room cannot be seen from here.
 */
export function watchDiskFaults(server: FastifyInstance): () => boolean {
  let lastAt = Number.NEGATIVE_INFINITY
  server.addHook('onResponse', async ({ faultOf }) => {
    if (faultOf === 'disk') lastAt = performance.now()
  })
  return () => performance.now() - lastAt < LASTING_MS
}
