#!/usr/bin/env node
// As much of curl as the README's commands use: -X, -H and -d, and an address. Prints the answer's body.
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  options: {
    request: { type: 'string', short: 'X' },
    header: { type: 'string', short: 'H', multiple: true, default: [] },
    data: { type: 'string', short: 'd' },
  },
  allowPositionals: true,
})
const response = await fetch(positionals[0], {
  method: values.request ?? 'GET',
  headers: values.header.map((header) => header.split(/: (.*)/s).slice(0, 2)),
  body: values.data ?? null,
})
process.stdout.write(await response.text())
