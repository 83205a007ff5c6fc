import { describe, expect, it } from 'vitest'
import { PLAIN, startBroadcastWorld } from '../../support/broadcasts.js'
import { wamid } from '../../support/callbacks.js'
import { json, startHttpServer } from '../../support/http-server.js'
import { useStarted } from '../../support/started.js'

const TEMPLATE = { name: PLAIN, language: 'en_US', status: 'APPROVED', category: 'UTILITY', id: '1' }
const TEMPLATES = { data: [{ ...TEMPLATE, components: [{ type: 'BODY', text: 'Hello' }] }] }
/** With how many senders a broadcast begins. */
const FIRST = 32

/** Has one template, and answers messages when the test lets it. */
const upstream = useStarted(() =>
  startHttpServer((request, response) => {
    if (request.path.includes('/message_templates')) return json(200, TEMPLATES)(request, response)
    const { to } = JSON.parse(String(request.body))
    held.push((isAccepted) => {
      if (!isAccepted) return void response.writeHead(502).end()
      reached.push(to)
      json(200, { contacts: [{ input: to, wa_id: to }], messages: [{ id: wamid() }] })(request, response)
    })
    most = Math.max(most, held.length)
  }),
)
const at = useStarted(() => startBroadcastWorld({ PARLEY_UPSTREAM_URL: `${upstream.url}/v23.0` }))
/** The answers to the messages in progress, accepted or of an unknown outcome. */
const held: ((isAccepted: boolean) => void)[] = []
/** How many messages were in progress at the same time, at most. */
let most = 0
/** The recipients of the accepted messages, in order. */
const reached: string[] = []

/** Starts a broadcast to this many; `ended` resolves when nothing of it is due any more. */
async function begin(recipients: number) {
  const numbers = Array.from({ length: recipients }, at.newNumber)
  const { id } = await at.create({ audience: { recipients: numbers.map((chatNumber) => ({ chatNumber })) } })
  return { id, numbers, ended: at.world.drain() }
}

const untilHeld = (count: number) => expect.poll(() => held.length).toBe(count)

/** Answers all messages in progress. */
function answer(isAccepted: boolean): void {
  for (const one of held.splice(0)) one(isAccepted)
}

/** Answers every message until the broadcast has ended or is paused. */
async function answerAll(ended: Promise<unknown>, isAccepted: boolean): Promise<void> {
  let isOver = false
  const over = ended.finally(() => {
    isOver = true
  })
  const answered = () => {
    answer(isAccepted)
    return isOver
  }
  await expect.poll(answered).toBe(true)
  await over
}

describe('the messages of a broadcast in progress', () => {
  it('are 32 at first, and more while the upstream accepts them and the pace is not reached', async () => {
    const { id, numbers, ended } = await begin(200)
    await untilHeld(FIRST)
    answer(true)
    await untilHeld(2 * FIRST)
    answer(true)
    // 32 and 64 were accepted; the rest is in progress.
    await untilHeld(200 - 3 * FIRST)
    await answerAll(ended, true)
    expect(await at.read(id)).toMatchObject({ status: 'completed', totalRecipients: 200 })
    expect(reached.filter((to) => numbers.includes(to)).sort()).toEqual(numbers)
  })

  it('are not more after unknown outcomes', async () => {
    most = 0
    const { id, ended } = await begin(200)
    await untilHeld(FIRST)
    await answerAll(ended, false)
    expect(await at.read(id)).toMatchObject({
      status: 'paused',
      reason: expect.stringContaining('have an unknown outcome'),
    })
    expect(most).toBe(FIRST)
  })
})
