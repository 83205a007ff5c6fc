import { once } from 'node:events'
import { connect } from 'node:net'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { useWorld } from '../support/world.js'

const lines: { level: number; msg: string }[] = []
const ERROR = 50

const world = useWorld({}, pino({ level: 'debug' }, { write: (line) => lines.push(JSON.parse(line)) }))

it('a client that disconnects in the middle of its body causes no error in the log', async () => {
  const { hostname, port } = new URL(world.app.url)
  const client = connect({ host: hostname, port: Number(port) })
  await once(client, 'connect')
  const head = [
    'POST /hooks/upstream HTTP/1.1',
    'host: x',
    `x-hub-signature-256: sha256=${'0'.repeat(64)}`,
    'content-type: application/json',
    'content-length: 100',
  ]
  await new Promise((resolve) => client.write(`${head.join('\r\n')}\r\n\r\n{"half": `, resolve))
  client.end()
  await expect.poll(() => lines.some(({ msg }) => msg.includes('hung up'))).toBe(true)
  expect(lines.filter(({ level }) => level >= ERROR)).toEqual([])
})
