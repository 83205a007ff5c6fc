#!/usr/bin/env node
import { endSoon } from './cli/last-resort.js'
import { runCli } from './cli/program.js'

process.exitCode = await runCli(process.argv.slice(2), process.env)
endSoon()
