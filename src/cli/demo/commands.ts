import type { Command } from 'commander'
import type { Config } from '../../config/settings.js'
import { sleep } from '../../lib/async/backoff.js'
import { asObject, asObjects } from '../../lib/text/json.js'
import { requireSecrets, requireSharedConfig } from '../environment.js'
import { CliFailure } from '../failure.js'
import type { Environment, Invocation } from '../invocation.js'
import { reachable } from '../listening.js'
import { publicUrlOf } from '../operator.js'
import { inOneLine, printDone } from '../output.js'
import { type Call, createCall, expectStatus } from './client.js'
import { DEMO_CONTACT, demoNumberId, ensureDemo } from './demo.js'
import { type DemoRecord, readDemoRecord } from './file.js'

/** `parley demo …`: tries out the demo of `parley up`. */
export function addDemoCommands(program: Command, invocation: Invocation): void {
  const demo = program.command('demo').description('use the demo organization of parley up')
  demo
    .command('env')
    .description('print the shell variables url and key: eval "$(parley demo env)"')
    .action(() => printVariables(invocation))
  demo
    .command('say <text>')
    .description('send a message to the demo organization as a customer')
    .option('--from <number>', "the customer's number, in digits", DEMO_CONTACT.number)
    .option('--name <name>', "the name on the customer's profile")
    .action((text, options) => say(invocation, text, options))
  demo
    .command('send <text>')
    .description('send a text to a customer; creates the demo organization if it is missing')
    .option('--to <number>', "the customer's number, in digits", DEMO_CONTACT.number)
    .action((text, options) => send(invocation, text, options))
}

async function printVariables({ env, streams }: Invocation): Promise<void> {
  const { url, record } = await requireDemo(env)
  streams.stdout.write(`url='${url}'\nkey='${record.api_key}'\n`)
}

interface SayOptions {
  from: string
  name?: string
}

const TIMEOUT_MS = 30_000
const LOOKS = 50
const LOOK_PAUSE_MS = 100

async function say({ env, streams }: Invocation, body: string, { from, name }: SayOptions): Promise<void> {
  const { config, record, url } = await requireDemo(env)
  const { adminToken: token } = await requireSecrets(config)
  const called = name ?? (from === DEMO_CONTACT.number ? DEMO_CONTACT.name : `+${from}`)
  const message = {
    phone_number_id: demoNumberId(record.organization_id),
    from,
    name: called,
    type: 'text',
    text: { body },
  }
  const call = createCall(url, AbortSignal.timeout(TIMEOUT_MS))
  const answer = await call('POST', '/_sim/inbound', { token, body: message }).catch((error: Error) => {
    throw new CliFailure(1, `No service answers at ${url} (${error.message}): start it with parley up`)
  })
  const { message_id: id } = expectStatus(answer, [200], 'POST /_sim/inbound')
  await untilShown(call, record.api_key, from, id)
  printDone(streams, `${called} wrote: ${body}`)
}

/** Sends to the sandbox only: a demo has no place among the organizations of a real upstream. */
async function send({ env, streams }: Invocation, text: string, { to }: { to: string }): Promise<void> {
  const config = await requireSharedConfig(env)
  if (config.upstreamUrl !== 'sandbox')
    throw new CliFailure(1, `The demo sends to the sandbox only, and PARLEY_UPSTREAM_URL is ${config.upstreamUrl}`)
  const { adminToken } = await requireSecrets(config)
  const url = reachable(publicUrlOf({ ...config, publicUrl: undefined }))
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const { apiKey } = await ensureDemo({ url, adminToken, dataDir: config.dataDir, storefrontUrl: null, signal }).catch(
    (error: Error) => {
      throw new CliFailure(
        1,
        `The demo could not be created at ${url} (${inOneLine(error.message)}): is serve running?`,
      )
    },
  )
  const body = { phone_number: to, message_type: 'text', text }
  const answer = await createCall(url, signal)('POST', '/send-chat', { token: apiKey, body })
  const { data } = expectStatus(answer, [200], 'POST /send-chat')
  printDone(streams, `Sent to +${to}: ${text} (${asObject(data).message_id})`)
}

/** Callbacks are processed after their answer; waits until the message is visible. */
async function untilShown(call: Call, token: string, from: string, messageId: unknown): Promise<void> {
  for (let look = 1; look <= LOOKS; look++) {
    const { body } = await call('GET', `/conversations?chatNumber=${from}&limit=20`, { token })
    if (asObjects(body.messages).some(({ message_id }) => message_id === messageId)) return
    await sleep(LOOK_PAUSE_MS)
  }
}

async function requireDemo(env: Environment): Promise<{ config: Config; record: DemoRecord; url: string }> {
  const config = await requireSharedConfig(env)
  const record = await readDemoRecord(config.dataDir)
  if (record) return { config, record, url: record.url ?? publicUrlOf(config) }
  throw new CliFailure(
    1,
    `There is no demo in ${config.dataDir}: parley up creates one, and PARLEY_DATA_DIR names its folder`,
  )
}
