import { createInterface } from 'node:readline/promises'
import { isOnThisMachine } from '../../core/organizations/connecting/addresses.js'
import { type Connection, connectNumber } from '../../core/organizations/connecting/connect.js'
import { listNumbers } from '../../core/organizations/numbers.js'
import { findOrganizationByName } from '../../core/organizations/organizations.js'
import type { ConnectionStep } from '../../model/organizations/connection-steps.js'
import { type ConnectionChoices, ConnectNumber } from '../../model/organizations/operator-input.js'
import { createUpstreamClient } from '../../upstream/client.js'
import { CliFailure } from '../failure.js'
import { readDocument, readOptions } from '../input.js'
import type { Invocation, Streams } from '../invocation.js'
import { publicUrlOf, withCredentials } from '../operator.js'
import { inOneLine, printFields } from '../output.js'

/** Connects a number once with these choices. */
type Connect = (choices: ConnectionChoices) => Promise<Connection>

/** What the options of the command say. */
interface ConnectOptions {
  json?: boolean
  sendTo?: string
  number?: string
  further?: boolean
}

/**
 * `parley org connect`: with a terminal it asks for the token, for the number if the token reaches others than those that
 * are connected, and for each choice, until nothing is left to choose; otherwise it reads the choices as a JSON object
 * from standard input, once. A connected number is replaced only if another one is named. With `sendTo`, the connected
 * number sends a message there. Throws a CliFailure with code 1 if the number is not connected then.
 */
export async function connectOrganization(
  { env, streams }: Invocation,
  name: string,
  { json, sendTo, number, further }: ConnectOptions,
): Promise<void> {
  const test = readChoices(sendTo === undefined ? {} : { send_to: sendTo })
  const wish = readChoices({
    ...(number === undefined ? {} : { phone_number_id: number }),
    ...(further && { further }),
  })
  const connection = await withCredentials(env, async (operator, config) => {
    if (config.upstreamUrl === 'sandbox') {
      const message =
        'The service has its own sandbox, which only the service reaches: connect in the console, or with POST /admin/organizations/{id}/upstream/connect'
      throw new CliFailure(2, message)
    }
    const { id } = await findOrganizationByName(operator, name)
    const upstream = createUpstreamClient(config.upstreamUrl)
    const { upstreamTimeoutMs } = config
    const address = {
      publicUrl: () => publicUrlOf(config),
      isSimulated: async () => isOnThisMachine(config.upstreamUrl),
    }
    const ctx = { ...operator, upstream, upstreamTimeoutMs, ...address }
    const connect: Connect = (choices) => connectNumber(ctx, id, choices)
    const connecting = streams.stdin.isTTY
      ? askAndConnect(streams, connect, { wish, test, connected: await listConnected(operator, id) })
      : readDocument(streams, ConnectNumber, (choices) => ({ ...choices, ...wish, ...test })).then(connect)
    return connecting.finally(() => upstream.close())
  })
  if (json) printFields(streams, connection, { json })
  else printSteps(streams, connection.steps)
  if (!connection.connected) throw new CliFailure(1, 'The number is not connected: see the steps that are not ok')
}

/** The ids of the connected numbers, the first one first. */
async function listConnected(operator: Parameters<typeof listNumbers>[0], id: string): Promise<string[]> {
  return (await listNumbers(operator, { id })).map(({ phone_number_id }) => phone_number_id)
}

interface Asking {
  /** What the options say of the number. */
  wish: ConnectionChoices
  test: ConnectionChoices
  connected: readonly string[]
}

/**
 * Asks until nothing is left to choose; an empty answer leaves a choice open, and a connected number as it is. Then
 * sends the test message, if one is wanted, so that it is sent once.
 */
async function askAndConnect(
  streams: Streams,
  connect: Connect,
  { wish, test, connected }: Asking,
): Promise<Connection> {
  const lines = createInterface({ input: streams.stdin, output: streams.stderr })
  const ask = async (question: string) => (await lines.question(question)).trim()
  try {
    const token = await ask('Access token (it shows; empty: the stored one): ')
    let choices: ConnectionChoices = token === '' ? wish : { ...wish, access_token: token }
    let choose = connected.length > 0 && wish.phone_number_id === undefined
    const run = () => connect(readChoices(choose ? { ...choices, choose } : choices))
    let connection = await run()
    const left = new Set<string>()
    for (;;) {
      const open = connection.steps.find(({ field }) => field !== undefined && !left.has(field))
      const isOfNumber = open?.field === 'phone_number_id'
      if (choose && (open === undefined || (isOfNumber && !reachesOther(open, connected)))) {
        choose = false
        connection = await run()
        continue
      }
      if (open?.field === undefined) {
        return test.send_to === undefined ? connection : await connect({ ...numberOf(choices), ...test })
      }
      const answer = await ask(question(open, connected))
      const value = choiceOf(open, answer)
      const place = isOfNumber && value !== '' ? await askForPlace(ask, value, { choices, connected }) : {}
      if (value === '' || place === null) {
        // Without another number, the connected one is meant.
        if (isOfNumber && choose && !choices.further) {
          choose = false
          connection = await run()
        } else left.add(open.field)
        continue
      }
      choices = { ...choices, [open.field]: value, ...place }
      choose = choose && !isOfNumber
      connection = await run()
    }
  } finally {
    lines.close()
  }
}

/** Whether a step offers a number that is not connected. */
function reachesOther({ choices = [] }: ConnectionStep, connected: readonly string[]): boolean {
  return choices.some(({ value }) => !connected.includes(value))
}

/**
 * Asks whether a number that is not connected comes beside those that are, or in place of the first one. Null: neither.
 */
async function askForPlace(
  ask: (question: string) => Promise<string>,
  number: string,
  { choices, connected }: { choices: ConnectionChoices; connected: readonly string[] },
): Promise<Pick<ConnectionChoices, 'further'> | null> {
  const [first] = connected
  if (choices.further || first === undefined || number === first) return {}
  if (connected.includes(number)) return { further: true }
  for (;;) {
    const answer = await ask(
      `Where does ${number} go?\n  1  beside ${connected.join(', ')}\n  2  in place of ${first}\nplace (empty: nowhere): `,
    )
    if (answer === '') return null
    if (answer === '1' || answer === '2') return { further: answer === '1' }
  }
}

/** The number that was chosen, for a later call. */
function numberOf({ phone_number_id, further }: ConnectionChoices): ConnectionChoices {
  return { ...(phone_number_id === undefined ? {} : { phone_number_id }), ...(further && { further }) }
}

function question({ sentence, remedy, field, choices = [] }: ConnectionStep, connected: readonly string[]): string {
  const listed = choices.map(({ value, label }, index) => {
    const mark = field === 'phone_number_id' && connected.includes(value) ? ' (connected)' : ''
    return `\n  ${index + 1}  ${inOneLine(label)}${mark}`
  })
  return `${inOneLine(sentence)}. ${remedy ?? ''}${listed.join('')}\n${field} (empty: leave it): `
}

/** The value of a choice that is named by its number in the list; anything else as it was typed. */
function choiceOf({ choices = [] }: ConnectionStep, answer: string): string {
  return (/^\d{1,3}$/.test(answer) ? choices[Number(answer) - 1]?.value : undefined) ?? answer
}

function readChoices(choices: ConnectionChoices): ConnectionChoices {
  return readOptions(ConnectNumber, choices, (input) => input)
}

/** One line for each step, and under it what to do and where it is described. */
function printSteps({ stdout }: Streams, steps: readonly ConnectionStep[]): void {
  for (const { state, step, sentence, remedy, link, docs } of steps) {
    stdout.write(`${state.padEnd(7)}  ${step.padEnd(10)}  ${inOneLine(sentence)}\n`)
    const advice = [remedy, link].filter((part) => part !== null).join(': ')
    for (const line of [advice, docs === null ? '' : `See ${docs}`]) {
      if (line !== '') stdout.write(`${' '.repeat(21)}${inOneLine(line)}\n`)
    }
  }
}
