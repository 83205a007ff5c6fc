import { afterEach, describe, expect, it } from 'vitest'
import { reconcileBroadcasts } from '../../../../src/core/broadcasts/reconcile.js'
import { sendBroadcast } from '../../../../src/core/broadcasts/send-broadcast.js'
import { PLAIN, startBroadcastWorld } from '../../../support/broadcasts.js'
import { wamid } from '../../../support/callbacks.js'
import { type Answering, json, startHttpServer } from '../../../support/http-server.js'
import { useStarted } from '../../../support/started.js'

/** Has one template, and answers messages as the test wants. */
const upstream = useStarted(() =>
  startHttpServer((request, response) =>
    (request.path.includes('/message_templates') ? json(200, TEMPLATES) : say)(request, response),
  ),
)
const at = useStarted(() => startBroadcastWorld({ PARLEY_UPSTREAM_URL: `${upstream.url}/v23.0` }))
let say: Answering = (request, response) => accept(request, response)
/** The recipients of the accepted messages, in order. */
const taken: string[] = []

const TEMPLATE = { name: PLAIN, language: 'en_US', status: 'APPROVED', category: 'UTILITY', id: '1' }
const TEMPLATES = { data: [{ ...TEMPLATE, components: [{ type: 'BODY', text: 'Hello' }] }] }

const recipientOf: (request: Parameters<Answering>[0]) => string = ({ body }) => JSON.parse(String(body)).to

const accept: Answering = (request, response) => {
  const to = recipientOf(request)
  taken.push(to)
  const contacts = [{ input: to, wa_id: to }]
  json(200, { messaging_product: 'whatsapp', contacts, messages: [{ id: wamid() }] })(request, response)
}

/** A server in between that does not speak the upstream's protocol. */
const badGateway: Answering = (_request, response) => void response.writeHead(502).end()

const refuse = (status: number, code: number, headers: Record<string, string> = {}) =>
  json(status, { error: { message: 'not now', code } }, headers)

afterEach(() => {
  say = accept
})

const to = (numbers: readonly string[]) => ({ recipients: numbers.map((chatNumber) => ({ chatNumber })) })

const newNumbers = (count: number) => Array.from({ length: count }, at.newNumber)
const triesOf = (numbers: readonly string[]) =>
  upstream.taken
    .filter(({ pathname }) => pathname.endsWith('/messages'))
    .filter((sent) => numbers.includes(recipientOf(sent)))

const forgetJobs = (id: string) =>
  at.world.database.pool.query(`DELETE FROM jobs WHERE payload ->> 'broadcastId' = $1`, [id])

/** Runs one slice of a started broadcast, as its job does; the job is due again if it is not done. */
async function sendSlice(id: string, signal: AbortSignal): Promise<void> {
  const state = { broadcastId: id, generation: 1 }
  const again = await sendBroadcast(at.world.app.ctx, at.organization.id, state, { signal, isAlone: false })
  if (again === null) return
  await at.world.database.pool.query(
    `INSERT INTO jobs (organization_id, class, task, payload) VALUES ($1, 'broadcasts', 'send_broadcast', $2)`,
    [at.organization.id, again.payload],
  )
}

describe('many unknown outcomes', () => {
  it('in a row pause the broadcast with a reason; after resume it continues with pending recipients', async () => {
    say = badGateway
    const numbers = newNumbers(100)
    const paused = await at.send({ audience: to(numbers) })
    expect(paused).toMatchObject({ status: 'paused', completed_at: null, totalRecipients: 100 })
    expect(paused.reason).toContain('have an unknown outcome')
    const tried = triesOf(numbers).length
    expect(tried).toBeGreaterThanOrEqual(50)
    expect(tried).toBeLessThan(100)
    say = accept
    expect((await at.act(paused.id, 'resume')).body.broadcast).toMatchObject({ status: 'running', reason: null })
    await at.world.drain()
    expect(triesOf(numbers)).toHaveLength(100)
    expect(new Set(triesOf(numbers).map(recipientOf)).size).toBe(100)
    expect((await at.read(paused.id)).status).toBe('running')
  })

  it('do so too if the slices are short', async () => {
    const numbers = newNumbers(55)
    const { id } = await at.create({ audience: to(numbers) })
    await forgetJobs(id)
    const ending = new AbortController()
    say = (request, response) => {
      if (triesOf(numbers).length === 10) ending.abort()
      badGateway(request, response)
    }
    await sendSlice(id, ending.signal)
    expect(triesOf(numbers).length).toBeLessThan(50)
    expect((await at.read(id)).status).toBe('running')
    await at.world.drain()
    expect(await at.read(id)).toMatchObject({ status: 'paused', reason: expect.stringContaining('unknown outcome') })
  })

  it('do not if they are fewer than 50', async () => {
    say = badGateway
    const numbers = newNumbers(49)
    const sent = await at.send({ audience: to(numbers) })
    expect(sent).toMatchObject({ status: 'running', reason: null })
    expect(triesOf(numbers)).toHaveLength(numbers.length)
  })

  it('do not if other results are in between', async () => {
    const numbers = newNumbers(120)
    say = (request, response) =>
      (numbers.indexOf(recipientOf(request)) % 2 === 0 ? badGateway : accept)(request, response)
    const sent = await at.send({ audience: to(numbers) })
    expect(sent).toMatchObject({ status: 'running', reason: null })
    expect(triesOf(numbers)).toHaveLength(120)
    expect(taken.filter((to) => numbers.includes(to))).toHaveLength(60)
  })
})

describe('a persistent rate limit', () => {
  it('of one recipient fails only that recipient', async () => {
    const [limited = '', other = ''] = newNumbers(2)
    const pairLimit = refuse(400, 131056, { 'retry-after': '0.001' })
    say = (request, response) => (recipientOf(request) === limited ? pairLimit : accept)(request, response)
    const sent = await at.send({ audience: to([limited, other]) })
    expect(sent).toMatchObject({ status: 'completed', reason: null })
    expect(await at.outcomes(sent.id)).toEqual(['failed', 'sent'])
    expect((await at.recipients(sent.id, 'status=failed'))[0]).toMatchObject({ errorCode: 131056, sent_at: null })
    expect(triesOf([limited])).toHaveLength(5)
    await at.expectNoDrift()
  })

  it('of the number pauses the broadcast', async () => {
    say = refuse(429, 130429, { 'retry-after': '3600' })
    const numbers = newNumbers(2)
    const paused = await at.send({ audience: to(numbers) })
    expect(paused).toMatchObject({
      status: 'paused',
      reason: expect.stringContaining('not accepted messages for a while'),
    })
  })
})

describe('a job of an older generation', () => {
  it('does not pause a broadcast that was resumed in the meantime', async () => {
    const numbers = newNumbers(1)
    let answerLate = () => undefined as unknown
    say = (request, response) => {
      answerLate = () => refuse(401, 190)(request, response)
    }
    const { id } = await at.create({ audience: to(numbers) })
    const draining = at.world.drain()
    await expect.poll(() => triesOf(numbers).length).toBe(1)
    expect((await at.act(id, 'pause')).status).toBe(200)
    expect((await at.act(id, 'resume')).status).toBe(200)
    answerLate()
    await draining
    await reconcileBroadcasts(at.world.app.ctx)
    await at.world.drain()
    expect(await at.outcomes(id)).toEqual(['failed'])
    expect(await at.read(id)).toMatchObject({ status: 'completed', reason: null })
  })
})

describe('a job whose process ends while the upstream is unavailable', () => {
  it('leaves its recipients pending, and a later job sends to them once', async () => {
    say = refuse(500, 131016)
    const numbers = newNumbers(3)
    const { id } = await at.create({ audience: to(numbers) })
    await forgetJobs(id)
    const ending = new AbortController()
    const sending = sendSlice(id, ending.signal)
    await expect.poll(() => new Set(triesOf(numbers).map(recipientOf)).size).toBe(3)
    ending.abort()
    await sending
    expect(await at.outcomes(id)).toEqual(['pending', 'pending', 'pending'])
    expect(await at.read(id)).toMatchObject({ status: 'running', reason: null, totalRecipients: 3 })
    await at.expectNoDrift()

    say = accept
    await at.world.database.pool.query(`UPDATE jobs SET run_at = now() WHERE payload ->> 'broadcastId' = $1`, [id])
    await at.world.drain()
    expect(await at.outcomes(id)).toEqual(['sent', 'sent', 'sent'])
    expect(taken.filter((to) => numbers.includes(to)).sort()).toEqual(numbers)
    expect((await at.read(id)).status).toBe('completed')
    await at.expectNoDrift()
  })
})
