#!/usr/bin/env node
// As much of curl as the commands of the docs use: -X, -H, -d, --data-binary @file, -o, and an address. Prints the answer's body.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  options: {
    request: { type: 'string', short: 'X' },
    header: { type: 'string', short: 'H', multiple: true, default: [] },
    data: { type: 'string', short: 'd' },
    'data-binary': { type: 'string' },
    output: { type: 'string', short: 'o' },
  },
  allowPositionals: true,
})
const file = values['data-binary']?.slice(1)
const response = await fetch(positionals[0], {
  method: values.request ?? 'GET',
  headers: values.header.map((header) => header.split(/: (.*)/s).slice(0, 2)),
  body: file === undefined ? (values.data ?? null) : readFileSync(file),
})
const body = await response.text()
if (values.output === undefined) process.stdout.write(body)
else writeFileSync(values.output, body)
