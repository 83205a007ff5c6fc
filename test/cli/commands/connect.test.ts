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
    const streams = {
      stdin: Object.assign(new PassThrough(), { isTTY: true }),
      stdout: new PassThrough(),
      stderr: new PassThrough(),
    }
    streams.stderr.on('data', () => streams.stdin.write(`${answers.shift() ?? ''}\n`))
    const invocation = { env: env(), streams } as unknown as Invocation
    await expect(connectOrganization(invocation, await newOrganization(), {})).rejects.toThrow('not connected')
    expect((await seePlatform(world, platform)).account.numbers[0]?.status).toBe('CONNECTED')
  })

  it("is refused with the service's own sandbox, which it does not reach", async () => {
    const slug = await newOrganization()
    const refused = await run(['org', 'connect', slug], { ...env(), PARLEY_UPSTREAM_URL: 'sandbox' }, '{}')
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('console')])
  })
})
