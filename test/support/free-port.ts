import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** A program that asks for any port gets one of another range, so a port of this one stays free until it is used. */
const FIRST = 20_000
const LAST = 32_000

/** A free port of loopback. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false)
      else reject(error)
    })
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
