import fastify from 'fastify'
import { openDatabase } from '../src/database/pool.js'
import { newId } from '../src/lib/bytes/id.js'
import { createHttpClient } from '../src/lib/http/client.js'
import { exchange } from '../src/lib/http/exchange.js'
import { anyNumber } from './data.js'
import { type LoadShape, runLoop } from './generator.js'
import type { World } from './world.js'

/** The settings from the process that starts this one. */
interface Settings extends Pick<World, 'url' | 'organization'> {
  constant: string
  upstreamUrl: string
}

// The baseline for the service: the same work without the service, in minimal code.
const { url, constant, organization, upstreamUrl }: Settings = JSON.parse(process.env.BENCH_BASELINE ?? '')
// The same number of connections as the service, opened in the same way.
const { pool } = openDatabase({ connectionString: url }, 20, (error) =>
  process.stderr.write(`baseline: ${error.message}\n`),
)
const upstream = createHttpClient({ connectTimeoutMs: 5_000, keepAliveMs: 30_000 })
const server = fastify()

// A simple look-up by one address: cheaper than the service's own, which finds several forms of a number.
const findContact = {
  name: 'baseline.contact',
  text: `SELECT c.* FROM contact_addresses a
    JOIN contacts c ON c.organization_id = a.organization_id AND c.id = a.contact_id
    WHERE a.organization_id = $1 AND a.address = $2`,
}
const lookUp = (number: string) => pool.query({ ...findContact, values: [organization.id, number] })

const insertMessage = {
  name: 'baseline.insert',
  text: `INSERT INTO bench_sends (organization_id, id, recipient, text) VALUES ($1, $2, $3, $4)`,
}
await pool.query(`CREATE TABLE IF NOT EXISTS bench_sends (
  organization_id uuid, id uuid, recipient text, text text, created_at timestamptz DEFAULT now(), PRIMARY KEY (organization_id, id))`)

const constantAnswer: unknown = JSON.parse(constant)
server.get('/constant', async () => constantAnswer)

server.get<{ Querystring: { phone_number: string } }>('/contact', async (request) => {
  const { rows } = await lookUp(request.query.phone_number.replace(/\D/g, ''))
  return { success: true, contact: rows[0] }
})

server.post<{ Body: { phone_number: string; text: string } }>('/send-chat', async (request) => {
  const to = request.body.phone_number.replace(/\D/g, '')
  await pool.query({ ...insertMessage, values: [organization.id, newId(), to, request.body.text] })
  const call = {
    origin: new URL(upstreamUrl),
    path: `${new URL(upstreamUrl).pathname}/${organization.phoneNumberId}/messages`,
    method: 'POST',
    headers: { authorization: `Bearer ${organization.accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messaging_product: 'whatsapp', to, type: 'text', text: { body: request.body.text } }),
  }
  const answer = await exchange(upstream, call, 20_000)
  return { success: true, data: JSON.parse(answer.body) }
})

server.post<{ Body: LoadShape }>('/statements', (request) => runLoop(request.body, () => lookUp(anyNumber())))

process.once('SIGTERM', () => process.exit(0))
await server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`baseline ready on ${server.listeningOrigin}\n`)
