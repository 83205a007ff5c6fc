import { createInterface } from 'node:readline/promises'
import { isOnThisMachine } from '../../core/organizations/connecting/addresses.js'
import { type Connection, connectNumber } from '../../core/organizations/connecting/connect.js'
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

/**
 * `parley org connect`: with a terminal it asks for the token and for each choice, until nothing is left to choose;
 * otherwise it reads the choices as a JSON object from standard input, once. With `sendTo`, the connected number sends a
 * message there. Throws a CliFailure with code 1 if the number is not connected then.
 */
export async function connectOrganization(
  { env, streams }: Invocation,
  name: string,
  options: { json?: boolean; sendTo?: string; further?: boolean },
): Promise<void> {
  const test = options.sendTo === undefined ? {} : readChoices({ send_to: options.sendTo })
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
    const connect: Connect = (choices) =>
      connectNumber(ctx, id, options.further ? { ...choices, further: true } : choices)
    const connecting = streams.stdin.isTTY
      ? askAndConnect(streams, connect, test)
      : readDocument(streams, ConnectNumber, (choices) => ({ ...choices, ...test })).then(connect)
    return connecting.finally(() => upstream.close())
  })
  if (options.json) printFields(streams, connection, options)
  else printSteps(streams, connection.steps)
  if (!connection.connected) throw new CliFailure(1, 'The number is not connected: see the steps that are not ok')
}

/**
 * Asks until nothing is left to choose; an empty answer leaves a choice open. Then sends the test message, if one is
 * wanted, so that it is sent once.
 */
async function askAndConnect(streams: Streams, connect: Connect, test: ConnectionChoices): Promise<Connection> {
  const lines = createInterface({ input: streams.stdin, output: streams.stderr })
  const ask = async (question: string) => (await lines.question(question)).trim()
  try {
    const token = await ask('Access token (it shows; empty: the stored one): ')
    let choices: ConnectionChoices = token === '' ? {} : { access_token: token }
    let connection = await connect(readChoices(choices))
    const left = new Set<string>()
    for (;;) {
      const open = connection.steps.find(({ field }) => field !== undefined && !left.has(field))
      if (open?.field === undefined) return test.send_to === undefined ? connection : await connect(test)
      const answer = await ask(question(open))
      if (answer === '') {
        left.add(open.field)
        continue
      }
      choices = { ...choices, [open.field]: choiceOf(open, answer) }
      connection = await connect(readChoices(choices))
    }
  } finally {
    lines.close()
  }
}

function question({ sentence, remedy, field, choices = [] }: ConnectionStep): string {
  const listed = choices.map(({ label }, index) => `\n  ${index + 1}  ${inOneLine(label)}`)
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
