import { randomInt } from 'node:crypto'
import type { World } from './world.js'

/** An app with an account, a number and a token at the strict simulator. */
export interface Platform {
  app: string
  account: string
  number: string
  token: string
  secret: string
}

/** What differs from a published app that requires nothing, and a number that is not registered yet. */
export interface PlatformFields {
  app?: object
  account?: object
  number?: object
  token?: object
}

/** Makes an app, an account with one number, and a token of a system user, with ids that nobody else has. */
export async function makePlatform(world: World, fields: PlatformFields = {}): Promise<Platform> {
  const unique = () => String(randomInt(10 ** 10, 10 ** 11))
  const ids = { app: `1${unique()}`, account: `2${unique()}`, number: `3${unique()}`, token: `EAA${unique()}` }
  const platform = { ...ids, secret: `secret-${unique()}` }
  await changePlatform(world, platform, fields)
  return platform
}

/** Makes it anew, with other properties. Subscriptions stay. */
export async function changePlatform(
  world: World,
  { app, account, number, token, secret }: Platform,
  fields: PlatformFields = {},
): Promise<void> {
  const put = async (path: string, body: object) => {
    const answer = await world.sim('PUT', path, body)
    if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  }
  await put(`/apps/${app}`, { secret, ...fields.app })
  await put(`/accounts/${account}`, { numbers: [{ id: number, ...fields.number }], ...fields.account })
  await put(`/tokens/${token}`, { app_id: app, accounts: [account], ...fields.token })
}

/** The app, account and number as the simulator has them now. */
export async function seePlatform(world: World, { app, account }: Platform) {
  const { body } = await world.sim('GET', '/accounts')
  const found = (things: { id: string }[], id: string) => things.find((thing) => thing.id === id) as never
  return { app: found(body.apps, app), account: found(body.accounts, account) } as {
    app: { callback_url: string | null; fields: string[] }
    account: { subscriptions: Record<string, string | null>; numbers: { status: string; override: string | null }[] }
  }
}

/** A person writes to a number; whether the service got the callback. */
export async function writeTo(world: World, number: string): Promise<boolean> {
  const message = { phone_number_id: number, from: '5511999990000', type: 'text', text: 'hello', repeat: false }
  return (await world.sim('POST', '/inbound', message)).body.delivered
}
