import type { Command } from 'commander'
import type { Config } from '../config.js'
import { DEMO_CONTACT, demoNumberId } from './demo.js'
import { createCall, expectStatus } from './demo-client.js'
import { type DemoRecord, readDemoRecord } from './demo-file.js'
import { requireSecrets, requireSharedConfig } from './environment.js'
import { CliFailure } from './failure.js'
import type { Environment, Invocation } from './invocation.js'
import { publicUrlOf } from './operator.js'
import { printDone } from './output.js'

/** `parley demo …`: for trying out what `parley up` made. */
export function addDemoCommands(program: Command, invocation: Invocation): void {
  const demo = program.command('demo').description('the demo organization of parley up')
  demo
    .command('env')
    .description('print the shell variables url and key: eval "$(parley demo env)"')
    .action(() => printVariables(invocation))
  demo
    .command('say <text>')
    .description('have a customer write to the demo organization, as the sandbox plays it')
    .option('--from <number>', "the customer's number, in digits", DEMO_CONTACT.number)
    .option('--name <name>', 'the name on the profile')
    .action((text, options) => say(invocation, text, options))
}

async function printVariables({ env, streams }: Invocation): Promise<void> {
  const { config, record } = await requireDemo(env)
  streams.stdout.write(`url='${publicUrlOf(config)}'\nkey='${record.api_key}'\n`)
}

interface SayOptions {
  from: string
  name?: string
}

const PATIENCE_MS = 30_000

async function say({ env, streams }: Invocation, body: string, { from, name }: SayOptions): Promise<void> {
  const { config, record } = await requireDemo(env)
  const { adminToken: token } = await requireSecrets(config)
  const called = name ?? (from === DEMO_CONTACT.number ? DEMO_CONTACT.name : `+${from}`)
  const message = {
    phone_number_id: demoNumberId(record.organization_id),
    from,
    name: called,
    type: 'text',
    text: { body },
  }
  const url = publicUrlOf(config)
  const call = createCall(url, AbortSignal.timeout(PATIENCE_MS))
  const answer = await call('POST', '/_sim/inbound', { token, body: message }).catch((error: Error) => {
    throw new CliFailure(1, `No service answers at ${url} (${error.message}): start it with parley up`)
  })
  expectStatus(answer, [200], 'POST /_sim/inbound')
  printDone(streams, `${called} wrote: ${body}`)
}

async function requireDemo(env: Environment): Promise<{ config: Config; record: DemoRecord }> {
  const config = await requireSharedConfig(env)
  const record = await readDemoRecord(config.dataDir)
  if (record) return { config, record }
  throw new CliFailure(
    1,
    `There is no demo in ${config.dataDir}: parley up makes one, and PARLEY_DATA_DIR names its folder`,
  )
}
