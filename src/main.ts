#!/usr/bin/env node
import { endSoon } from './cli/last-resort.js'
import { isSupervised, supervise } from './cli/supervise.js'

const args = process.argv.slice(2)
process.exitCode = isSupervised(args)
  ? await supervise(args)
  : await (await import('./cli/program.js')).runCli(args, process.env)
endSoon()
