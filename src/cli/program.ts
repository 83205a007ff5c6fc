import { Command, CommanderError } from 'commander'
import { Problem } from '../model/problem.js'
import { config } from './config.js'
import type { Environment } from './environment.js'
import { CliFailure } from './failure.js'
import { migrate } from './migrate.js'
import { sandbox } from './sandbox.js'
import { serve } from './serve.js'

/** Runs one command; resolves to the exit code (contract 1): 0 done, 1 failed, 2 wrong usage or configuration. */
export async function runCli(args: readonly string[], env: Environment): Promise<number> {
  const program = createProgram(env)
  try {
    await program.parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    return report(error)
  }
}

function createProgram(env: Environment): Command {
  const program = new Command('parley')
    .description('A self-hosted messaging service that a business can trust with every conversation')
    .exitOverride()
    .showHelpAfterError()
  program
    .command('serve')
    .description('run the service')
    .option('--migrate', 'bring the database to this version first')
    .action((options) => serve(env, options))
  program
    .command('migrate')
    .description('bring the database to this version')
    .action(() => migrate(env))
  program
    .command('config')
    .description('print the effective settings, secrets masked')
    .option('--json', 'as JSON')
    .action((options) => config(env, options))
  program
    .command('sandbox')
    .description('run the simulator of the upstream by itself')
    .option('--port <port>', 'where to listen; 0 = any free port', '0')
    .option('--host <host>', 'the address to listen on', '127.0.0.1')
    .option('--limits', "enforce the upstream's rate limits and its 24-hour window")
    .option('--public', 'allow an address that is not loopback')
    .action((options) => sandbox(options))
  return program
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof CliFailure) return complain(error.message, error.exitCode)
  if (error instanceof Problem) return complain(error.message, 1)
  return complain(error instanceof Error ? (error.stack ?? error.message) : String(error), 1)
}

function complain(message: string, exitCode: number): number {
  process.stderr.write(`parley: ${message}\n`)
  return exitCode
}
