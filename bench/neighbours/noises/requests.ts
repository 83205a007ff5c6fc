import { MEBIBYTE } from '../../../src/lib/text/units.js'
import { loadData, numberOf } from '../../data.js'
import { insertEvents } from '../../event-data.js'
import type { Amounts, Noise, NoiseKind } from '../noise.js'
import { keepAsking, type Requests } from '../requests.js'
import {
  type Answer,
  ask,
  createTenant,
  deleteTenant,
  type Stage,
  signInOwner,
  succeed,
  type Tenant,
} from '../stage.js'
import { voiceNote } from '../voice-note.js'

const READ_WIDTH = 20
const BODY_BYTES = MEBIBYTE
const GUESS_WIDTH = 40
/** Addresses of the strangers, as a proxy names them. */
const STRANGERS = ['45.33.32.156', '45.33.32.157', '45.33.32.158']
const CONTACTS = 1_000
const VOICE_NOTE_SECONDS = 20
const INSTANCE = 'noisy'

/** Expensive requests. */
export const requestNoises: readonly NoiseKind[] = [
  { name: 'searches', title: '20 parallel worst searches and filters', work: null, start: startSearches },
  { name: 'large-bodies', title: 'bodies of 1 MB on several routes', work: null, start: startLargeBodies },
  { name: 'passwords', title: 'guessed passwords at the sign-in', work: 'sign-in', start: startGuesses },
  {
    name: 'conversions',
    title: 'conversions of voice notes',
    work: 'conversion',
    needs: 'ffmpeg',
    start: startConversions,
  },
]

async function startSearches(stage: Stage, { messages }: Amounts): Promise<Noise> {
  const { tenant, cookie } = await createLargeTenant(stage, messages)
  const terms = Array.from({ length: 20 }, (_, index) => `${'aeiou'[index % 5]}${'rsnt'[index % 4]}`).join(',')
  const { url } = stage
  const { key } = tenant
  const get = (path: string) => () => ask('GET', `${url}${path}`, { key })
  const console = (path: string) => () => ask('GET', `${url}/console/api${path}`, { headers: { cookie } })
  const asks = [
    get(`/conversations?chatNumber=${numberOf(0)}&query=${terms}`),
    get(`/conversations?action=contacts&search=a&page=${Math.floor(CONTACTS / 50)}`),
    get('/conversations?action=contacts&page=10000'),
    get('/events?types=webhook.disabled'),
    get('/webhook-deliveries?status=failed&page=10000'),
    console('/inbox?tag=rare'),
    console('/tags'),
    () => findMessages(stage, tenant, { messageType: 'x' }),
    () => findMessages(stage, tenant, { key: { fromMe: true, remoteJid: `${numberOf(1)}@s.whatsapp.net` } }),
  ]
  return noiseOf(stage, tenant, READ_WIDTH, inTurn(READ_WIDTH, [200, 400], asks))
}

/** Creates an organization with so many messages of an instance, and as many events. */
async function createLargeTenant(stage: Stage, messages: number) {
  const tenant = await createTenant(stage, 'Noisy')
  const instanceId = await createInstance(stage, tenant)
  await loadData(stage.database, tenant.id, { contacts: CONTACTS, messages }, instanceId)
  await stage.database.query(insertEvents, [tenant.id, messages / 10, CONTACTS])
  return { tenant, cookie: (await signInOwner(stage, tenant)).cookie }
}

function findMessages({ url }: Stage, { key }: Tenant, where: object): Promise<Answer> {
  return ask('POST', `${url}/gateway/chat/findMessages/${INSTANCE}`, { key, body: { where } })
}

async function startLargeBodies(stage: Stage, { largeBodies }: Amounts): Promise<Noise> {
  const tenant = await createTenant(stage, 'Noisy')
  const { cookie } = await signInOwner(stage, tenant)
  const { url } = stage
  const { key } = tenant
  const recipients = Buffer.from(`{"audience":{"recipients":[${fill('{"chatNumber":"5511987650009"}')}]}}`)
  const contactIds = Buffer.from(`{"audience":{"contactIds":[${fill('"0192f0c4-0000-7000-8000-000000000000"')}]}}`)
  const nested = Buffer.from(`{"text":[${fill('[[[[[]]]]]')}]}`)
  const asks = [
    () => ask('POST', `${url}/broadcasts`, { key, body: recipients }),
    () => ask('POST', `${url}/console/api/audience`, { body: contactIds, headers: { cookie } }),
    () => ask('POST', `${url}/send-chat`, { key, body: nested }),
    () => ask('POST', `${url}/set-webhooks`, { key, body: nested }),
  ]
  return noiseOf(stage, tenant, largeBodies, inTurn(largeBodies, [200, 400, 413, 429], asks))
}

/** This JSON value, repeated until a body has BODY_BYTES. */
function fill(value: string): string {
  return Array.from({ length: Math.floor((BODY_BYTES - 100) / (value.length + 1)) }, () => value).join(',')
}

/** Guesses passwords of invented members and of one who exists. */
async function startGuesses(stage: Stage): Promise<Noise> {
  const tenant = await createTenant(stage, 'Noisy')
  const { credentials } = await signInOwner(stage, tenant)
  let guesses = 0
  const guess = () => {
    guesses += 1
    const email = guesses % 2 === 0 ? credentials.email : `nobody.${guesses}@example.com`
    const body = { ...credentials, email, password: `guess ${guesses}` }
    const headers = { 'x-forwarded-for': STRANGERS[guesses % STRANGERS.length] ?? '' }
    return ask('POST', `${stage.url}/console/api/session`, { body, headers })
  }
  return noiseOf(stage, tenant, GUESS_WIDTH, keepAsking(GUESS_WIDTH, [401], guess))
}

async function startConversions(stage: Stage, { conversions }: Amounts): Promise<Noise> {
  const tenant = await createTenant(stage, 'Noisy')
  await createInstance(stage, tenant)
  const body = { number: '5511987650009', audio: voiceNote(VOICE_NOTE_SECONDS), encoding: true }
  const requests = keepAsking(conversions, [200, 201], () =>
    ask('POST', `${stage.url}/gateway/message/sendWhatsAppAudio/${INSTANCE}`, { key: tenant.key, body }),
  )
  return noiseOf(stage, tenant, 1, requests)
}

async function createInstance({ url }: Stage, { key }: Tenant): Promise<string> {
  const body = { instanceName: INSTANCE, integration: 'WHATSAPP-BUSINESS' }
  return (await succeed('POST', `${url}/gateway/instance/create`, { key, body })).body.instance.instanceId
}

function inTurn(width: number, expected: readonly number[], asks: readonly (() => Promise<Answer>)[]): Requests {
  let turn = 0
  return keepAsking(width, expected, () => (asks[turn++ % asks.length] as () => Promise<Answer>)())
}

/** Resolves when `begun` requests have been answered. */
async function noiseOf(stage: Stage, tenant: Tenant, begun: number, requests: Requests): Promise<Noise> {
  await requests.untilAnswered(begun)
  return {
    remaining: async () => requests.inFlight,
    stop: async () => {
      await requests.end()
      await deleteTenant(stage, tenant)
    },
  }
}
