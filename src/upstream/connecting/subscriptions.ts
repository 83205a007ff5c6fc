import { asObject, asObjects, asText, type JsonObject } from '../../lib/text/json.js'
import { readId } from '../answer.js'
import type { BusinessNumber, Connection, UpstreamAccess } from '../connection.js'
import type { BusinessAccount } from '../templates.js'
import { type Asked, ask, objectPath, post } from './ask.js'
import { readShort } from './tokens.js'

/** An app with its secret, which are its own token. */
export interface AppCredentials {
  appId: string
  appSecret: string
}

/** Where an app is called about business accounts; null: nowhere. */
export interface AppAddress {
  url: string | null
  fields: string[]
}

/** An app that is subscribed to a business account. */
export interface SubscribedApp {
  id: string | null
  name: string | null
  /** The address that replaces the app's own for this account; null: none does. */
  override: string | null
}

/** An address to which callbacks are to go, and the token with which the upstream verifies it during the call. */
export interface VerifiedAddress {
  url: string
  verifyToken: string
}

const OBJECT = 'whatsapp_business_account'

/** Reads the callback address and the fields of an app. */
export function readAppAddress(
  connection: Connection,
  app: AppCredentials,
  timeoutMs: number,
): Promise<Asked<{ address: AppAddress }>> {
  const path = `${objectPath(app.appId)}/subscriptions`
  return ask(connection, { access: appToken(app), method: 'GET', path }, timeoutMs, ({ data }) => {
    if (!Array.isArray(data)) return null
    const found = asObjects(data).find(({ object, active }) => object === OBJECT && active !== false)
    return { address: found ? readAddress(found) : { url: null, fields: [] } }
  })
}

/** Sets the callback address of an app, with its fields, in place of the one before. */
export function setAppAddress(
  connection: Connection,
  { app, address: { url, verifyToken }, fields }: { app: AppCredentials; address: VerifiedAddress; fields: string[] },
  timeoutMs: number,
): Promise<Asked<object>> {
  const body = { object: OBJECT, callback_url: url, verify_token: verifyToken, fields: fields.join(',') }
  const question = { access: appToken(app), ...post(`${objectPath(app.appId)}/subscriptions`, body) }
  return ask(connection, question, timeoutMs, readSuccess)
}

/** Lists the apps that are subscribed to a business account. */
export function listSubscribedApps(
  connection: Connection,
  account: BusinessAccount,
  timeoutMs: number,
): Promise<Asked<{ apps: SubscribedApp[] }>> {
  const path = `${objectPath(account.businessAccountId)}/subscribed_apps`
  return ask(connection, { access: account, method: 'GET', path }, timeoutMs, ({ data }) =>
    Array.isArray(data) ? { apps: asObjects(data).map(readApp) } : null,
  )
}

/**
 * Subscribes the app of the token to a business account. With `override`, the account's callbacks go to that address,
 * for which the app has to be subscribed already; without, an override is removed.
 */
export function subscribeApp(
  connection: Connection,
  account: BusinessAccount,
  override: VerifiedAddress | null,
  timeoutMs: number,
): Promise<Asked<object>> {
  const body = override === null ? {} : toOverride(override)
  const question = { access: account, ...post(`${objectPath(account.businessAccountId)}/subscribed_apps`, body) }
  return ask(connection, question, timeoutMs, readSuccess)
}

/** Directs the callbacks of one number to an address; null: removes its override. */
export function overrideNumber(
  connection: Connection,
  number: BusinessNumber,
  override: VerifiedAddress | null,
  timeoutMs: number,
): Promise<Asked<object>> {
  const configuration = override === null ? { override_callback_uri: '' } : toOverride(override)
  const question = {
    access: number,
    ...post(objectPath(number.phoneNumberId), { webhook_configuration: configuration }),
  }
  return ask(connection, question, timeoutMs, readSuccess)
}

function appToken({ appId, appSecret }: AppCredentials): UpstreamAccess {
  return { accessToken: `${appId}|${appSecret}` }
}

function toOverride({ url, verifyToken }: VerifiedAddress): object {
  return { override_callback_uri: url, verify_token: verifyToken }
}

function readSuccess({ success }: JsonObject): object | null {
  return success === true ? {} : null
}

function readAddress({ callback_url, fields }: JsonObject): AppAddress {
  const names = Array.isArray(fields) ? fields.slice(0, 100) : []
  // Each is an object with its version; older answers hold only the names.
  return {
    url: readShort(callback_url),
    fields: names.flatMap((field) => asText(asObject(field).name) ?? asText(field) ?? []),
  }
}

function readApp(app: JsonObject): SubscribedApp {
  const { id, name } = asObject(app.whatsapp_business_api_data)
  return { id: readId(id), name: readShort(name), override: readShort(app.override_callback_uri) }
}
