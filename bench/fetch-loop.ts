import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

// The baseline for deliveries: a loop that signs a body and posts it with fetch, without a database. Runs as often as a
// POST requests.

interface Run {
  url: string
  count: number
  connections: number
  body: string
}

const SECRET = Buffer.alloc(32, 'secret')

async function run({ url, count, connections, body }: Run): Promise<void> {
  let left = count
  const loop = async () => {
    while (left-- > 0) {
      const id = crypto.randomUUID()
      const timestamp = String(Math.floor(Date.now() / 1_000))
      const signature = createHmac('sha256', SECRET).update(`${id}.${timestamp}.${body}`).digest('base64')
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          'webhook-signature': `v1,${signature}`,
        },
        body,
      })
      if (!response.ok) throw new Error(`the receiver answered ${response.status}`)
      await response.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: connections }, loop))
}

const server = createServer(async (request, response) => {
  const begun = performance.now()
  await run((await json(request)) as Run)
  response.end(JSON.stringify({ seconds: (performance.now() - begun) / 1_000 }))
}).listen(0, '127.0.0.1', () => {
  process.stdout.write(`fetch loop ready on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
