import { NotConnectedError } from '../lib/http/dispatch.js'
import { exchangeOnce } from '../lib/http/exchange.js'
import { errorMessage } from '../lib/text/error-message.js'
import { asObject, asText, isJsonObject, type JsonObject, parseJsonObject } from '../lib/text/json.js'

/** The simulator's control interface. */
export interface SimulatorControl {
  /** Such as http://127.0.0.1:9000/_sim. */
  controlUrl: string
  token: string | null
}

/** A business number to register with the simulator. */
export interface SimulatedNumber {
  phoneNumberId: string
  businessAccountId: string
  accessToken: string
  appSecret: string
}

/** Identifies a simulated phone: that of an organization's SANDBOX instance. */
export interface PhoneName {
  organizationId: string
  /** The instance's name. */
  name: string
}

/** A simulated phone to register. A simulator that knows it keeps its own state, number and name. */
export interface SimulatedPhone extends PhoneName {
  accessToken: string
  appSecret: string
  /** The last state, from which a restarted simulator continues. */
  state: 'open' | 'connecting' | 'close'
  /** The digits of the linked number. */
  number: string | null
  profileName: string | null
}

/** A simulated phone's state in the simulator. */
export interface PhoneState {
  state: 'open' | 'connecting' | 'close'
  /** Digits; null unless it is linked. */
  number: string | null
  profileName: string | null
}

/** The outcome of a control request. */
export type ControlOutcome =
  | { outcome: 'done'; body: JsonObject }
  /** Refused by the simulator, with this HTTP status. */
  | { outcome: 'refused'; status: number; text: string }
  /** There is no simulator; nothing was done. */
  | { outcome: 'not_reached'; text: string }
  | { outcome: 'unknown'; text: string }

/** Another server at this address may not answer at all; the simulator of a busy machine answers late. */
const ANSWER_TIMEOUT_MS = 15_000
const MAX_REASON_LENGTH = 200

/**
 * Whether the server at the address is a simulator: its control answers as a simulator's does. Another one on this
 * machine may pass on to the upstream, and is given no credentials. Never throws.
 */
export async function isSimulator(control: SimulatorControl): Promise<boolean> {
  const answer = await callControl(control, { method: 'GET', path: '/settings' }, ANSWER_TIMEOUT_MS)
  return answer.outcome === 'done' && answer.body.success === true && isJsonObject(answer.body.settings)
}

/** Registers a number and its callback address with a simulator. Throws if the simulator does not accept it. */
export async function registerWithSimulator(
  control: SimulatorControl,
  number: SimulatedNumber,
  callbackUrl: string,
): Promise<void> {
  await register(control, number.phoneNumberId, {
    business_account_id: number.businessAccountId,
    access_token: number.accessToken,
    app_secret: number.appSecret,
    callback_url: callbackUrl,
  })
}

/** Registers a simulated phone; returns its state in the simulator. Throws if the simulator does not accept it. */
export async function registerPhone(
  control: SimulatorControl,
  phone: SimulatedPhone,
  callbackUrl: string,
): Promise<PhoneState> {
  const answer = await register(control, phoneNumberIdOf(phone), {
    phone: true,
    state: phone.state,
    number: phone.number,
    name: phone.profileName,
    access_token: phone.accessToken,
    app_secret: phone.appSecret,
    callback_url: callbackUrl,
  })
  const { state, number, name } = asObject(answer.phone)
  const known = (['open', 'connecting', 'close'] as const).find((one) => one === state)
  if (known === undefined)
    throw new Error('the server that registered the phone is not a simulator with phones, or is an older one')
  return { state: known, number: asText(number), profileName: asText(name) }
}

/** Removes a simulated phone; an unknown one counts as removed. Throws if the simulator cannot be reached. */
export async function forgetPhone(control: SimulatorControl, phone: PhoneName): Promise<void> {
  const path = numberPath(phoneNumberIdOf(phone))
  const answer = await callControl(control, { method: 'DELETE', path }, ANSWER_TIMEOUT_MS)
  if (answer.outcome === 'done' || (answer.outcome === 'refused' && answer.status === 404)) return
  throw new Error(`the simulator did not forget the phone: ${answer.text}`)
}

/** A request to a simulated phone. */
export interface PhoneQuestion {
  asked: 'connect' | 'logout' | 'command' | 'check'
  fields: JsonObject
}

/** Sends a request to a simulated phone, waiting at most `timeoutMs`. Never throws. */
export function askPhone(
  control: SimulatorControl,
  { organizationId, name }: PhoneName,
  { asked, fields }: PhoneQuestion,
  timeoutMs: number,
): Promise<ControlOutcome> {
  const body = { ...fields, organization_id: organizationId, instance: name }
  return callControl(control, { method: 'POST', path: `/phones/${asked}`, body }, timeoutMs)
}

/** Has the owner of a simulated phone scan the code that it shows, waiting at most `timeoutMs`. Never throws. */
export function scanCode(
  control: SimulatorControl,
  { organizationId, name }: PhoneName,
  number: string | null,
  timeoutMs: number,
): Promise<ControlOutcome> {
  const body = { organization_id: organizationId, instance: name, ...(number === null ? {} : { number }) }
  return callControl(control, { method: 'POST', path: '/scan', body }, timeoutMs)
}

/** Where a simulated customer writes to: a business number, or the phone of a SANDBOX instance. */
export type SimulatedChannel = { phoneNumberId: string } | PhoneName

/** A text of a simulated customer, with the customer's number and name. */
export interface CustomerMessage {
  number: string
  name: string | null
  text: string
}

/** Has a simulated customer write a text, waiting at most `timeoutMs`. Never throws. */
export function writeAsCustomer(
  control: SimulatorControl,
  to: SimulatedChannel,
  { number, name, text }: CustomerMessage,
  timeoutMs: number,
): Promise<ControlOutcome> {
  const line =
    'phoneNumberId' in to
      ? { phone_number_id: to.phoneNumberId }
      : { organization_id: to.organizationId, instance: to.name }
  const body = { ...line, from: number, ...(name !== null && { name }), type: 'text', text }
  return callControl(control, { method: 'POST', path: '/inbound', body }, timeoutMs)
}

/** The id of a simulated phone as a number of the simulator. */
export function phoneNumberIdOf({ organizationId, name }: PhoneName): string {
  return `${organizationId}/${name}`
}

async function register(control: SimulatorControl, phoneNumberId: string, body: JsonObject): Promise<JsonObject> {
  const request = { method: 'PUT', path: numberPath(phoneNumberId), body } as const
  const answer = await callControl(control, request, ANSWER_TIMEOUT_MS)
  if (answer.outcome === 'done') return answer.body
  throw new Error(`the simulator did not take the number: ${answer.text}`)
}

function numberPath(phoneNumberId: string): string {
  return `/numbers/${encodeURIComponent(phoneNumberId)}`
}

interface ControlRequest {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  path: string
  body?: JsonObject
}

async function callControl(
  { controlUrl, token }: SimulatorControl,
  { method, path, body }: ControlRequest,
  timeoutMs: number,
): Promise<ControlOutcome> {
  try {
    const headers = {
      'content-type': 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    }
    const request = { method, headers, body: body === undefined ? null : JSON.stringify(body) }
    const { statusCode, body: text } = await exchangeOnce(controlUrl + path, request, AbortSignal.timeout(timeoutMs))
    const object = parseJsonObject(text)
    if (statusCode === 200 && object !== null) return { outcome: 'done', body: object }
    const reason = asText(object?.message) ?? text.slice(0, MAX_REASON_LENGTH)
    return { outcome: 'refused', status: statusCode, text: `HTTP ${statusCode}: ${reason}` }
  } catch (error) {
    const text = errorMessage(error)
    return error instanceof NotConnectedError
      ? { outcome: 'not_reached', text: `no connection to the simulator: ${text}` }
      : { outcome: 'unknown', text: `no answer of the simulator: ${text}` }
  }
}
