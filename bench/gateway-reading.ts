import { type Child, startChild } from './child.js'
import { type Amount, CONTACTS, loadData, MESSAGES, numberOf } from './data.js'
import { type BenchInstance, makeInstance } from './gateway-instances.js'
import { findMessagesLoad } from './gateway-loads.js'
import { runLoad } from './generator.js'
import { type LoadedServer, type Measurement, measure, measureAlternating, type Row } from './measure.js'
import { openPool, type Run, type Server, startServer } from './server.js'
import {
  call,
  MAIN,
  makeFolder,
  makeOrganization,
  type Organization,
  serviceEnvironment,
  startService,
} from './world.js'

/** A database whose messages all went through one instance, with a running service. */
interface Site extends LoadedServer {
  amount: Amount
  organization: Organization
  instance: BenchInstance
  service: Child
}

/** A search in an instance. */
interface Question {
  id: string
  title: string
  body: object
  /** The expected number of results in total and on the page. */
  total: number
  records: number
}

const LARGE: Amount = { contacts: CONTACTS, messages: MESSAGES }
const SMALL: Amount = { contacts: 100, messages: 10_000 }
/** The gateway's default page size. */
const ROWS_A_PAGE = 50
const CONNECTIONS = [1, 8]

/**
 * Measures `POST /gateway/chat/findMessages` among a million messages of an instance, compared with ten thousand. Then
 * once more with messages of another channel, so that the messages of a conversation must be counted.
 */
export async function measureGatewayReading(run: Run, seconds: number): Promise<Row[]> {
  const folder = await makeFolder(run)
  const server = await startServer(run, folder)
  const sandbox = await startChild(run, [MAIN, 'sandbox'], {})
  const open = (name: string, url: string, amount: Amount) =>
    openSite(run, { cpu: server.cpu, url, folder: `${folder}/${name}` }, sandbox.url, amount)
  const large = await open('large', server.url, LARGE)
  const small = await open('small', await server.createDatabase('small'), SMALL)

  const rows: Row[] = []
  for (const connections of CONNECTIONS) {
    for (const [index, question] of (await questionsTo(large)).entries()) {
      const smallQuestion = (await questionsTo(small))[index] as Question
      const pair: [Measurement, Measurement] = [
        await toMeasurement(small, smallQuestion, connections, 'small'),
        await toMeasurement(large, question, connections, 'large'),
      ]
      rows.push(...(await measureAlternating(large, seconds, [pair])))
    }
  }
  await addOtherConnection(large)
  for (const connections of CONNECTIONS) {
    for (const question of await questionsTo(large)) {
      rows.push(await measure(large, seconds, await toMeasurement(large, question, connections, 'shared')))
    }
  }
  await Promise.all([large, small].map(({ service }) => service.stop()))
  await sandbox.stop()
  await server.stop()
  return rows
}

async function openSite(
  run: Run,
  { folder, url, cpu }: Pick<Server, 'url' | 'cpu'> & { folder: string },
  sandboxUrl: string,
  amount: Amount,
): Promise<Site> {
  const env = { ...serviceEnvironment(folder, `${sandboxUrl}/v23.0`), PARLEY_DATABASE_URL: url }
  const organization = await makeOrganization(run, env)
  const service = await startService(run, env)
  const instance = await makeInstance({ url: service.url, sandboxUrl, organization }, 'reading', 'SANDBOX')
  const database = openPool(run, url)
  await loadData(database, organization.id, amount, instance.id)
  return { database, cpu, amount, organization, instance, service }
}

async function questionsTo({ database, organization, amount: { messages } }: Site): Promise<Question[]> {
  const longest = messages / 10
  const remoteJid = `${numberOf(0)}@s.whatsapp.net`
  const all = { total: messages, records: ROWS_A_PAGE }
  const conversation = { total: longest, records: ROWS_A_PAGE }
  const lastPage = messages / ROWS_A_PAGE
  const far = Math.min(1_000, lastPage)
  const { rows } = await database.query(
    'SELECT upstream_id FROM messages WHERE organization_id = $1 AND seq = $2 ORDER BY created_at DESC LIMIT 1',
    [organization.id, longest / 2],
  )
  return [
    { ...all, id: 'first', title: 'all, page 1', body: { page: 1 } },
    { ...all, id: 'far', title: `all, page ${far.toLocaleString('en')}`, body: { page: far } },
    { ...all, id: 'middle', title: 'all, middle page', body: { page: lastPage / 2 } },
    { ...conversation, id: 'chat.first', title: 'long chat, page 1', body: { where: { key: { remoteJid } }, page: 1 } },
    {
      ...conversation,
      id: 'chat.last',
      title: 'long chat, last page',
      body: { where: { key: { remoteJid } }, page: longest / ROWS_A_PAGE },
    },
    { id: 'key', title: 'by key.id', body: { where: { key: { id: rows[0].upstream_id } } }, total: 1, records: 1 },
  ]
}

/** Runs the search once first, because results of wrong answers would mislead. */
async function toMeasurement(
  { organization, instance, service, amount }: Site,
  { id, title, body, total, records }: Question,
  connections: number,
  kind: 'small' | 'large' | 'shared',
): Promise<Measurement> {
  const { messages } = await call(
    'POST',
    `${service.url}/gateway/chat/findMessages/${instance.name}`,
    body,
    organization.key,
  )
  if (messages.total !== total || messages.records.length !== records) {
    throw new Error(`"${title}" found ${messages.records.length} of ${messages.total}, not ${records} of ${total}`)
  }
  const load = findMessagesLoad(organization.key, instance, body)
  const among = `${amount.messages.toLocaleString('en')}${kind === 'shared' ? ', with other channels' : ''}`
  return {
    id: `find.${kind}.${id}.${connections}`,
    title: `${title} (${among})`,
    pid: service.pid,
    connections,
    run: (shape) => runLoad(service.url, shape, load),
  }
}

/** Adds a message of every contact through the organization's own number. */
async function addOtherConnection({ database, organization }: Site): Promise<void> {
  await database.query(
    `WITH numbered AS (
       UPDATE contacts SET last_seq = last_seq + 1 WHERE organization_id = $1 RETURNING id, last_seq
     )
     INSERT INTO messages (organization_id, id, contact_id, seq, upstream_id, sender_type, message_type, text, status,
       created_at, recorded_at, accepted_at, delivered_at, gateway_type)
     SELECT $1, uuidv7(), id, last_seq, 'wamid.other.' || id, 'bot-chat', 'text', 'Your order has left our house today.',
       'delivered', now(), now(), now(), now(), 'conversation'
     FROM numbered`,
    [organization.id],
  )
  await database.query('VACUUM (ANALYZE)')
}
