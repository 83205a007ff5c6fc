import { setImmediate } from 'node:timers/promises'
import { Command, CommanderError } from 'commander'
import { isDatabaseFull, isDatabaseUnavailable } from '../database/errors.js'
import { packageVersion } from '../lib/files/package-version.js'
import { errorMessage } from '../lib/text/error-message.js'
import { Problem } from '../model/problem.js'
import { addAnalyticsCommands } from './commands/analytics.js'
import { addKeyCommands } from './commands/api-keys.js'
import { addBackupCommands } from './commands/backup.js'
import { addBroadcastCommands } from './commands/broadcasts.js'
import { config } from './commands/config.js'
import { addContactCommands } from './commands/contacts.js'
import { addConversationCommands } from './commands/conversations.js'
import { addDoctorCommand } from './commands/doctor.js'
import { addMemberCommands } from './commands/members.js'
import { addMessageCommands } from './commands/messages.js'
import { migrate } from './commands/migrate.js'
import { addOptOutCommands } from './commands/opt-outs.js'
import { addOrganizationCommands } from './commands/organizations.js'
import { addRetentionCommands } from './commands/retention.js'
import { sandbox } from './commands/sandbox.js'
import { serve } from './commands/serve.js'
import { addStorefrontCommands } from './commands/storefront.js'
import { addTemplateCommands } from './commands/templates.js'
import { up } from './commands/up.js'
import { addVerifyCommand } from './commands/verify.js'
import { addWebhookCommands } from './commands/webhooks.js'
import { addWorkCommands } from './commands/work.js'
import { addDemoCommands } from './demo/commands.js'
import { AskedToEnd, CliFailure, EndedByFault } from './failure.js'
import type { Environment, Invocation, Streams } from './invocation.js'
import { inOneLine } from './output.js'

/** Runs one command and returns the exit code: 0 done, 1 failed, 2 wrong usage or configuration. */
export async function runCli(args: readonly string[], env: Environment, streams: Streams = process): Promise<number> {
  const invocation = { env, streams }
  let writeError: Error | undefined
  // The reader may stop reading (`parley org list | head -1`); a service continues to run.
  const onError = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') writeError = error
  }
  streams.stdout.on('error', onError)
  const exitCode = await run(args, invocation)
  // A write error is reported a moment later.
  await setImmediate()
  streams.stdout.off('error', onError)
  return writeError && exitCode === 0
    ? complain(invocation, `The output cannot be written: ${writeError.message}`)
    : exitCode
}

async function run(args: readonly string[], invocation: Invocation): Promise<number> {
  try {
    await createProgram(invocation).parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    return report(error, invocation)
  }
}

function createProgram(invocation: Invocation): Command {
  const { stdout, stderr } = invocation.streams
  const program = new Command('parley')
    .description('A self-hosted WhatsApp messaging service')
    .version(packageVersion, '--version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text) => complain(invocation, text.replace(/^error: /, '')),
    })
  program
    .command('serve')
    .description('run the service')
    .option('--migrate', 'migrate the database first')
    .action((options) => serve(invocation, options))
  program
    .command('up')
    .description('run the service, by default with the sandbox and a demo organization')
    .option('--migrate', 'migrate the database first')
    .option('--strict', 'no demo: the sandbox refuses as the upstream does (docs/simulator.md#strict-mode)')
    .option('--no-restart', 'run in this process; do not restart after a crash')
    .addHelpText(
      'after',
      '\nPARLEY_PORT (8080) and PARLEY_DATA_DIR (./data) choose another port and another folder for the data.',
    )
    .action((options) => up(invocation, options))
  program
    .command('migrate')
    .description('migrate the database to this version')
    .option('--contract', 'also remove what only the version before needs')
    .option('--status', 'show what is applied and how far the changes of old rows are')
    .option('--json', 'print JSON')
    .action((options) => migrate(invocation, options))
  addDoctorCommand(program, invocation)
  addVerifyCommand(program, invocation)
  addBackupCommands(program, invocation)
  addDemoCommands(program, invocation)
  addOrganizationCommands(program, invocation)
  addKeyCommands(program, invocation)
  addMemberCommands(program, invocation)
  addContactCommands(program, invocation)
  addOptOutCommands(program, invocation)
  addConversationCommands(program, invocation)
  addMessageCommands(program, invocation)
  addTemplateCommands(program, invocation)
  addStorefrontCommands(program, invocation)
  addBroadcastCommands(program, invocation)
  addWebhookCommands(program, invocation)
  addAnalyticsCommands(program, invocation)
  addRetentionCommands(program, invocation)
  addWorkCommands(program, invocation)
  program
    .command('config')
    .description('print the effective settings, with secrets masked')
    .option('--json', 'print JSON')
    .action((options) => config(invocation, options))
  program
    .command('sandbox')
    .description('run only the simulator of the upstream')
    .option('--port <port>', 'port to listen on; 0 picks a free one', '0')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--limits', "enforce the upstream's rate limits and its 24-hour window")
    .option('--strict', 'accept only apps, accounts, numbers and tokens that were made (docs/simulator.md#strict-mode)')
    .option('--public', 'allow a --host that is not loopback')
    .action((options) => sandbox(invocation, options))
  return program
}

/** Problems with the request count as wrong usage; others are about the data. */
const USAGE_PROBLEMS = new Set([
  'invalid_field',
  'invalid_parameter',
  'missing_field',
  'invalid_json',
  'invalid_csv',
  'payload_too_large',
])

function report(error: unknown, invocation: Invocation): number {
  if (error instanceof AskedToEnd) return 0
  if (error instanceof EndedByFault) return 1
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof CliFailure) return complain(invocation, error.message, error.exitCode)
  if (error instanceof Problem) return complain(invocation, error.message, USAGE_PROBLEMS.has(error.code) ? 2 : 1)
  const message = errorMessage(error)
  if (isDatabaseFull(error)) return complain(invocation, `The database's disk is full, make room: ${message}`)
  if (isDatabaseUnavailable(error)) return complain(invocation, `The database cannot be reached: ${message}`)
  const debugging = /^(debug|trace)$/.test(invocation.env.PARLEY_LOG_LEVEL ?? '')
  if (debugging && error instanceof Error) invocation.streams.stderr.write(`${error.stack}\n`)
  return complain(invocation, debugging ? message : `${message} (PARLEY_LOG_LEVEL=debug shows where)`)
}

function complain({ streams }: Invocation, message: string, exitCode = 1): number {
  streams.stderr.write(`parley: ${inOneLine(message)}\n`)
  return exitCode
}
