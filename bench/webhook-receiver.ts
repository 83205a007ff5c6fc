import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// A webhook endpoint as a process: answers every POST with 204, and reports their number to a GET.

let count = 0
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify({ count }))
    return
  }
  request.resume().on('end', () => {
    count += 1
    response.writeHead(204).end()
  })
}).listen(0, '127.0.0.1', () => {
  process.stdout.write(`receiver ready on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
