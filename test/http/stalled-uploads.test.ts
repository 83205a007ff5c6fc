import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { endStalledUploads, type UploadWatch } from '../../src/http/stalled-uploads.js'

const CHUNK = Buffer.alloc(64 * 1_024)
const SECOND = 1_000
const agent = new Agent({ keepAlive: true })

let server: Server
let uploads: UploadWatch
/** The requests as they come, before anything of their bodies is read. */
let received: Promise<[IncomingMessage, ServerResponse]>

beforeEach(async () => {
  server = createServer()
  uploads = endStalledUploads(server, () => 'request-1')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  received = once(server, 'request') as typeof received
})

afterEach(() => {
  agent.destroy()
  server.close()
})

function upload() {
  const client = request({ port: (server.address() as AddressInfo).port, method: 'POST', agent })
  const answer = new Promise<{ status?: number; id: unknown; body: string }>((resolve, reject) => {
    client.once('error', reject)
    client.once('response', async (response) => {
      resolve({ status: response.statusCode, id: response.headers['x-request-id'], body: await text(response) })
    })
  })
  client.flushHeaders()
  return { client, answer }
}

it('an upload that stalls for 30 s is answered with 408, and its request ends', async () => {
  const { client, answer } = upload()
  const [incoming] = await received
  client.write('a little')
  await once(incoming, 'data')
  uploads.check(0)
  uploads.check(29 * SECOND)
  expect(incoming.socket.writable).toBe(true)
  uploads.check(30 * SECOND)
  const { status, id, body } = await answer
  expect({ status, id }).toEqual({ status: 408, id: 'request-1' })
  expect(JSON.parse(body)).toMatchObject({ success: false, error: 'Request Timeout', message: expect.any(String) })
  await expect(once(incoming, 'end')).rejects.toThrow('aborted')
})

it('a slow upload that progresses may last for hours', async () => {
  const { client, answer } = upload()
  const [incoming, response] = await received
  let now = 0
  uploads.check(now)
  for (let round = 0; round < 500; round++) {
    client.write(CHUNK)
    for (let length = 0; length < CHUNK.length; ) length += (await once(incoming, 'data'))[0].length
    now += 29 * SECOND
    uploads.check(now)
  }
  client.end()
  await once(incoming, 'end')
  response.end('done')
  expect(await answer).toMatchObject({ status: 200, body: 'done' })
})

it('an upload that the service does not read yet is not the fault of the client', async () => {
  const { client, answer } = upload()
  const [incoming, response] = await received
  client.end(Buffer.alloc(4 * 1_024 * 1_024))
  await expect.poll(() => incoming.readableLength >= incoming.readableHighWaterMark).toBe(true)
  uploads.check(0)
  uploads.check(1_000 * SECOND)
  incoming.resume()
  await once(incoming, 'end')
  response.end('done')
  expect(await answer).toMatchObject({ status: 200 })
})

it('a body that goes on after its answer is dropped for 30 s, and then the connection ends', async () => {
  const { client, answer } = upload()
  const [incoming, response] = await received
  client.write('a little')
  response.writeHead(413).end()
  expect(await answer).toMatchObject({ status: 413 })
  uploads.check(0)
  client.write(CHUNK)
  const closed = once(incoming.socket, 'close')
  uploads.check(30 * SECOND)
  await closed
})

it('each request of a connection has its own window, and a connection without a body is left alone', async () => {
  const { client, answer } = upload()
  const [incoming, response] = await received
  uploads.check(0)
  client.end('whole')
  incoming.resume()
  await once(incoming, 'end')
  uploads.check(100 * SECOND)
  response.end('done')
  expect(await answer).toMatchObject({ status: 200 })
  uploads.check(200 * SECOND)
})
