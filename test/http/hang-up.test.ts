import { once } from 'node:events'
import { connect } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWorld, type TestOrganization, type World } from '../support/world.js'

const lines: { level: number; msg: string }[] = []
const ERROR = 50

let world: World
let organization: TestOrganization

beforeAll(async () => {
  world = await startWorld({}, pino({ level: 'debug' }, { write: (line) => lines.push(JSON.parse(line)) }))
  organization = await world.createOrganization()
})

afterAll(() => world.close())

it.each([
  ['POST', '/hooks/upstream', () => `x-hub-signature-256: sha256=${'0'.repeat(64)}`],
  ['POST', '/gateway/instance/create', () => `apikey: ${organization.key}`],
])(
  'a client that hangs up in the middle of its body leaves no error in the log: %s %s',
  async (method, path, header) => {
    lines.length = 0
    const { hostname, port } = new URL(world.app.url)
    const client = connect({ host: hostname, port: Number(port) })
    await once(client, 'connect')
    const head = `${method} ${path} HTTP/1.1\r\nhost: x\r\n${header()}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n`
    await new Promise((resolve) => client.write(`${head}{"half": `, resolve))
    client.end()
    await expect.poll(() => lines.some(({ msg }) => msg.includes('hung up'))).toBe(true)
    expect(lines.filter(({ level }) => level >= ERROR)).toEqual([])
  },
)
