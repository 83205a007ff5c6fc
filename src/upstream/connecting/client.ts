import type { BusinessNumber, Connection, UpstreamAccess } from '../connection.js'
import type { BusinessAccount } from '../templates.js'
import { type AccountList, type ListedNumber, listAccounts, listBusinesses, listNumbers } from './accounts.js'
import type { Asked } from './ask.js'
import { type NumberReading, readNumberState } from './number-state.js'
import { type PhoneData, requestPhoneData } from './phone-data.js'
import { registerNumber } from './registration.js'
import {
  type AppAddress,
  type AppCredentials,
  listSubscribedApps,
  overrideNumber,
  readAppAddress,
  type SubscribedApp,
  setAppAddress,
  subscribeApp,
  type VerifiedAddress,
} from './subscriptions.js'
import { debugToken, findApp, type TokenApp, type TokenState } from './tokens.js'

/** The calls that connect a number and show whether it stays connected. Each waits at most `timeoutMs`; none throws. */
export interface ConnectingClient {
  /** What an access token may do, and until when. */
  debugToken(access: UpstreamAccess, timeoutMs: number): Promise<Asked<{ token: TokenState }>>
  /** The app of a token; with `appSecret`, also proves that it is the app's. */
  findApp(
    given: { accessToken: string; appSecret: string | null },
    timeoutMs: number,
  ): Promise<Asked<{ app: TokenApp }>>
  /** Business accounts of a user or of a portfolio. */
  listAccounts(access: UpstreamAccess, list: AccountList, timeoutMs: number): Promise<Asked<{ ids: string[] }>>
  /** Portfolios of a token. */
  listBusinesses(access: UpstreamAccess, timeoutMs: number): Promise<Asked<{ ids: string[] }>>
  /** A page of the numbers of a business account. */
  listNumbers(
    access: UpstreamAccess,
    page: { accountId: string; after: string | null },
    timeoutMs: number,
  ): Promise<Asked<{ numbers: ListedNumber[]; next: string | null }>>
  /** The state and health of a number. */
  readNumberState(number: BusinessNumber, timeoutMs: number): Promise<Asked<{ number: NumberReading }>>
  /** Where an app is called. */
  readAppAddress(app: AppCredentials, timeoutMs: number): Promise<Asked<{ address: AppAddress }>>
  /** Has an app called at an address. */
  setAppAddress(
    given: { app: AppCredentials; address: VerifiedAddress; fields: string[] },
    timeoutMs: number,
  ): Promise<Asked<object>>
  /** The apps that are subscribed to a business account. */
  listSubscribedApps(account: BusinessAccount, timeoutMs: number): Promise<Asked<{ apps: SubscribedApp[] }>>
  /** Subscribes the token's app to a business account, with an override of the address or without. */
  subscribeApp(account: BusinessAccount, override: VerifiedAddress | null, timeoutMs: number): Promise<Asked<object>>
  /** Sets or removes the override of one number. */
  overrideNumber(number: BusinessNumber, override: VerifiedAddress | null, timeoutMs: number): Promise<Asked<object>>
  /** Registers a number with its PIN. */
  registerNumber(number: BusinessNumber, pin: string, timeoutMs: number): Promise<Asked<object>>
  /** Asks for what the phone of a number has. */
  requestPhoneData(number: BusinessNumber, type: PhoneData, timeoutMs: number): Promise<Asked<{ requestId: string }>>
}

/** How a call that is running is measured; passes its result on. */
export type Measure = <Result extends { outcome: string; code?: number | null }>(
  call: keyof ConnectingClient,
  running: Promise<Result>,
) => Promise<Result>

/** The calls over a connection. */
export function createConnectingClient(connection: Connection, measured: Measure): ConnectingClient {
  return {
    debugToken: (access, ms) => measured('debugToken', debugToken(connection, access, ms)),
    findApp: (given, ms) => measured('findApp', findApp(connection, given, ms)),
    listAccounts: (access, list, ms) => measured('listAccounts', listAccounts(connection, access, list, ms)),
    listBusinesses: (access, ms) => measured('listBusinesses', listBusinesses(connection, access, ms)),
    listNumbers: (access, page, ms) => measured('listNumbers', listNumbers(connection, access, page, ms)),
    readNumberState: (number, ms) => measured('readNumberState', readNumberState(connection, number, ms)),
    readAppAddress: (app, ms) => measured('readAppAddress', readAppAddress(connection, app, ms)),
    setAppAddress: (given, ms) => measured('setAppAddress', setAppAddress(connection, given, ms)),
    listSubscribedApps: (account, ms) => measured('listSubscribedApps', listSubscribedApps(connection, account, ms)),
    subscribeApp: (account, override, ms) => measured('subscribeApp', subscribeApp(connection, account, override, ms)),
    overrideNumber: (number, override, ms) =>
      measured('overrideNumber', overrideNumber(connection, number, override, ms)),
    registerNumber: (number, pin, ms) => measured('registerNumber', registerNumber(connection, number, pin, ms)),
    requestPhoneData: (number, type, ms) =>
      measured('requestPhoneData', requestPhoneData(connection, number, type, ms)),
  }
}
