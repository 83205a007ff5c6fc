import { newId } from '../lib/bytes/id.js'
import { asObjects, asText, type JsonObject } from '../lib/text/json.js'
import type { BusinessNumber, UpstreamClient } from '../upstream/client.js'
import {
  askPhone,
  type ControlOutcome,
  type CustomerMessage,
  forgetPhone,
  type PhoneName,
  type PhoneQuestion,
  type PhoneState,
  registerPhone,
  type SimulatedChannel,
  type SimulatedPhone,
  type SimulatorControl,
  scanCode,
  writeAsCustomer,
} from '../upstream/simulator-link.js'
import { toOutbound } from './business-api.js'
import type { Device, DeviceAnswer, DeviceCommand, MessageKey, NumberCheck, PairingCode, Sent } from './device.js'
import type { ChannelDriver, DriverMessage } from './driver.js'

/** The simulated phones. */
export interface Sandboxes {
  /** Registers a phone and returns its state in the simulator. Throws if the simulator does not accept it. */
  register(phone: SimulatedPhone): Promise<PhoneState>
  /** Throws if the simulator cannot be reached. */
  forget(phone: PhoneName): Promise<void>
  /**
   * Has the phone's owner scan the code that it shows; `number` is the owner's number. Waits at most `timeoutMs`; never
   * throws.
   */
  scan(phone: PhoneName, number: string | null, timeoutMs: number): Promise<ControlOutcome>
  /** Has a customer write a text to a number or a phone. Waits at most `timeoutMs`; never throws. */
  receive(to: SimulatedChannel, message: CustomerMessage, timeoutMs: number): Promise<ControlOutcome>
  /** Everything except sending, which `sandboxDriver` does. */
  device(phone: PhoneName): Device
}

/** The phones of the simulator at `control`; it reports their changes to `callbackUrl`. */
export function openSandboxes(control: SimulatorControl, callbackUrl: () => string): Sandboxes {
  return {
    register: (phone) => registerPhone(control, phone, callbackUrl()),
    forget: (phone) => forgetPhone(control, phone),
    scan: (phone, number, timeoutMs) => scanCode(control, phone, number, timeoutMs),
    receive: (to, message, timeoutMs) => writeAsCustomer(control, to, message, timeoutMs),
    device: (phone) => sandboxDevice(control, phone),
  }
}

/** The driver of a simulated phone: like the business API, plus mentions. */
export function sandboxDriver(upstream: UpstreamClient, number: BusinessNumber): ChannelDriver {
  return {
    upload: (file, timeoutMs) => upstream.uploadMedia(number, file, timeoutMs),
    send: (message, timeoutMs) => upstream.send(number, withMentions(message), timeoutMs),
  }
}

function withMentions(message: DriverMessage) {
  const mentions = 'mentions' in message.content ? message.content.mentions : undefined
  return mentions === undefined ? toOutbound(message) : { ...toOutbound(message), mentions }
}

/** The commands of a simulated phone, except sending. Never throws. */
export function sandboxDevice(control: SimulatorControl, phone: PhoneName): Device {
  return (command, timeoutMs) => {
    const ask: Ask = async (asked, fields, read) =>
      toAnswer(await askPhone(control, phone, { asked, fields }, timeoutMs), read)
    return runCommand(command, ask)
  }
}

type Ask = (
  asked: PhoneQuestion['asked'],
  fields: JsonObject,
  read: (body: JsonObject) => unknown,
) => Promise<DeviceAnswer>

async function runCommand(command: DeviceCommand, ask: Ask): Promise<DeviceAnswer> {
  switch (command.verb) {
    case 'connect':
      return ask('connect', command.number === null ? {} : { number: command.number }, readCode)
    case 'restart':
      return ask('connect', {}, readCode)
    case 'logout':
      return ask('logout', {}, () => null)
    case 'send':
      return { outcome: 'unsupported', text: 'A simulated phone sends through its channel, not by a command' }
    case 'check_numbers':
      return ask('check', { numbers: command.numbers.map(numberOf) }, (body) => readChecks(command.numbers, body))
    case 'profile_picture':
      return ask('command', { command }, () => ({ url: null }))
    case 'delete_message':
      return ask('command', { command }, () => sentAbout(command.key, { type: 'REVOKE' }))
    case 'edit_message': {
      const edit = { type: 'MESSAGE_EDIT', editedMessage: { conversation: command.text } }
      return ask('command', { command }, () => sentAbout(command.key, edit))
    }
    case 'set_presence':
    case 'show_presence':
    case 'mark_read':
    case 'archive':
      return ask('command', { command }, () => null)
  }
}

/** A phone that the simulator does not know, or that is not linked, counts as not open. */
function toAnswer(outcome: ControlOutcome, read: (body: JsonObject) => unknown): DeviceAnswer {
  switch (outcome.outcome) {
    case 'done':
      return { outcome: 'done', value: read(outcome.body) }
    case 'not_reached':
      return { outcome: 'not_open', text: outcome.text }
    case 'unknown':
      return { outcome: 'unknown', text: outcome.text }
    case 'refused': {
      const { status, text } = outcome
      return status === 404 || status === 409
        ? { outcome: 'not_open', text }
        : { outcome: 'refused', code: status, text }
    }
  }
}

/** Null if the phone is connected and shows no code. */
function readCode({ code, pairing_code: pairingCode, count }: JsonObject): PairingCode | null {
  if (asText(code) === null) return null
  return { code: asText(code), pairingCode: asText(pairingCode), count: typeof count === 'number' ? count : 0 }
}

const PERSON = '@s.whatsapp.net'

/** Clients may give a number as a JID. */
function numberOf(given: string): string {
  return given.endsWith(PERSON) ? given.slice(0, -PERSON.length) : given
}

/** The simulator knows phone numbers only; groups and hidden ids are taken to exist. */
function readChecks(given: string[], { numbers }: JsonObject): NumberCheck[] {
  const checks = asObjects(numbers)
  return given.map((number, index) => {
    const id = asText(checks[index]?.wa_id)
    if (/@(g\.us|lid)$/.test(number)) return { jid: number, exists: true, number }
    const jid = `${id ?? number.replace(/\D/g, '')}${PERSON}`
    return { jid, exists: checks[index]?.exists === true, number }
  })
}

/** The message with which the network announces a change to another message. */
function sentAbout(key: MessageKey, change: JsonObject): Sent {
  const id = newId().replaceAll('-', '').toUpperCase()
  return {
    key: { remoteJid: key.remoteJid, fromMe: true, id },
    message: { protocolMessage: { key: { ...key }, ...change } },
  }
}
