import { randomUUID } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { beforeAll, describe, expect, it } from 'vitest'
import { connectOrganization } from '../../../src/cli/commands/connect.js'
import type { Invocation } from '../../../src/cli/invocation.js'
import { besideService, run } from '../../support/cli.js'
import { makePlatform, seePlatform } from '../../support/platform.js'
import { useWorld } from '../../support/world.js'

const world = useWorld()

beforeAll(() => world.sim('POST', '/settings', { strict: true }))

const env = () => ({
  ...besideService(world.database.connection),
  PARLEY_UPSTREAM_URL: world.simulator.upstreamUrl,
  PARLEY_PUBLIC_URL: world.app.url,
})

async function newOrganization(): Promise<string> {
  const slug = `shop-${randomUUID().slice(0, 8)}`
  await world.admin('POST', '/organizations', { name: 'Shop', slug })
  return slug
}

/** Runs the command on a terminal with these answers; returns what it asked. */
async function answering(
  slug: string,
  answers: readonly string[],
  options: Parameters<typeof connectOrganization>[2] = {},
): Promise<string[]> {
  const asked: string[] = []
  const streams = {
    stdin: Object.assign(new PassThrough(), { isTTY: true }),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
  }
  streams.stderr.on('data', (question: Buffer) => {
    streams.stdin.write(`${answers[asked.length] ?? ''}\n`)
    asked.push(question.toString())
  })
  await connectOrganization({ env: env(), streams } as unknown as Invocation, slug, options)
  return asked
}

/** An organization that is connected with the first of two numbers of its account. */
async function connectedWithTwo(): Promise<{ slug: string; first: string; second: string }> {
  const { token, secret, account, number: first } = await makePlatform(world, { number: { status: 'CONNECTED' } })
  const slug = await newOrganization()
  const given = JSON.stringify({ access_token: token, app_secret: secret })
  expect((await run(['org', 'connect', slug], env(), given)).code).toBe(0)
  const second = `4${first}`
  const numbers = [first, second].map((id) => ({ id, status: 'CONNECTED' }))
  await world.sim('PUT', `/accounts/${account}`, { numbers })
  return { slug, first, second }
}

/** The ids of its numbers, the first one first. */
async function numbersOf(slug: string): Promise<string[]> {
  const listed = (await run(['org', 'numbers', slug, '--json'], env())).json() as { phone_number_id: string }[]
  return listed.map(({ phone_number_id }) => phone_number_id)
}

describe('parley org connect', () => {
  it('connects a number with the credentials on standard input, beside a running service', async () => {
    const { token, secret, number } = await makePlatform(world, { number: { status: 'CONNECTED' } })
    const slug = await newOrganization()
    const given = JSON.stringify({ access_token: token, app_secret: secret })
    const done = await run(['org', 'connect', slug, '--json'], env(), given)
    expect([done.code, done.err]).toEqual([0, ''])
    expect(done.json()).toMatchObject({ connected: true, upstream: { phone_number_id: number } })
  })

  it('sends a test message with --send-to, whose delivery the running service is told', async () => {
    const to = '5511999990000'
    const sandbox = { status: 'CONNECTED', account_mode: 'SANDBOX', recipients: [to] }
    const { token, secret } = await makePlatform(world, { number: sandbox })
    const given = JSON.stringify({ access_token: token, app_secret: secret })
    const done = await run(['org', 'connect', await newOrganization(), '--send-to', `+${to}`], env(), given)
    expect([done.code, done.out]).toEqual([0, expect.stringContaining(`A message to ${to} was delivered`)])
    const wrong = await run(['org', 'connect', await newOrganization(), '--send-to', 'me'], env(), given)
    expect([wrong.code === 0, wrong.err]).toEqual([false, expect.stringContaining('is not a phone number')])
  })

  it('prints each step with what to do, and fails while something is left', async () => {
    const { token, secret } = await makePlatform(world)
    const given = JSON.stringify({ access_token: token, app_secret: secret })
    const open = await run(['org', 'connect', await newOrganization()], env(), given)
    expect(open.code).toBe(1)
    expect(open.out).toMatch(/^choose {3}registered {2}The number is not registered \(PENDING\)$/m)
    expect(open.out).toMatch(/^ {21}Give a PIN of six digits/m)
    expect(open.out).toMatch(/^ {21}See docs\/connect-a-number\.md#registration$/m)
    expect(open.out).not.toContain(token)
    const wrong = await run(['org', 'connect', await newOrganization()], env(), '{"pin": "1"}')
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('pin must be six digits')])
  })

  it('asks for what is still open after an empty answer', async () => {
    const app = { callback_url: 'https://other.example/hook', fields: ['messages'] }
    const platform = await makePlatform(world, { app })
    const answers = [platform.token, platform.secret, '', '123456']
    await expect(answering(await newOrganization(), answers)).rejects.toThrow('not connected')
    expect((await seePlatform(world, platform)).account.numbers[0]?.status).toBe('CONNECTED')
  })

  describe('with a connected number', () => {
    it('asks for another one that the token reaches, and whether it comes beside or in place of the first', async () => {
      const { slug, first, second } = await connectedWithTwo()
      const asked = await answering(slug, ['', second, '1'])
      expect(asked[1]).toMatch(/The access token reaches 2 numbers.*\n {2}1 .*\(connected\)\n {2}2 [^(]*\n/)
      expect(asked).toEqual([
        expect.any(String),
        expect.any(String),
        expect.stringContaining(`2  in place of ${first}`),
      ])
      expect(await numbersOf(slug)).toEqual([first, second])
    })

    it('puts the chosen one in its place if that is the answer', async () => {
      const { slug, second } = await connectedWithTwo()
      await answering(slug, ['', second, 'which?', '2'])
      expect(await numbersOf(slug)).toEqual([second])
    })

    it('leaves it as it is after an empty answer to either question', async () => {
      const { slug, first, second } = await connectedWithTwo()
      expect(await answering(slug, ['', ''])).toHaveLength(2)
      expect(await numbersOf(slug)).toEqual([first])
      expect(await answering(slug, ['', second, ''])).toHaveLength(3)
      expect(await numbersOf(slug)).toEqual([first])
    })

    it('does not ask for a number if the token reaches no other, or if one is named', async () => {
      const { slug, first, second } = await connectedWithTwo()
      expect(await answering(slug, [''], { number: second, further: true })).toHaveLength(1)
      expect(await numbersOf(slug)).toEqual([first, second])
      expect(await answering(slug, [''])).toHaveLength(1)
    })

    it('keeps the number without a terminal, unless another one is named', async () => {
      const { slug, first, second } = await connectedWithTwo()
      const connect = (...options: string[]) => run(['org', 'connect', slug, ...options], env(), '{}')
      expect((await connect()).code).toBe(0)
      expect(await numbersOf(slug)).toEqual([first])
      expect((await connect('--number', second)).code).toBe(0)
      expect(await numbersOf(slug)).toEqual([second])
      expect((await connect('--number', first, '--further')).code).toBe(0)
      expect(await numbersOf(slug)).toEqual([second, first])
      const wrong = await connect('--number', '+55 11')
      expect([wrong.code, wrong.err]).toEqual([2, expect.stringMatching(/--number must be an id/)])
    })
  })

  it("is refused with the service's own sandbox, which it does not reach", async () => {
    const slug = await newOrganization()
    const refused = await run(['org', 'connect', slug], { ...env(), PARLEY_UPSTREAM_URL: 'sandbox' }, '{}')
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('console')])
  })
})
