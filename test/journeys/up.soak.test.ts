import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestDatabase } from '../support/database.js'
import { freePort } from '../support/free-port.js'
import { patience } from '../support/patience.js'
import { descendantsOf, stillRunning } from './support/process-table.js'
import { endPrograms, type Program, runProgram, startProgram } from './support/programs.js'
import { type Answer, call, makeFolder, startService, urlOf } from './support/service.js'

let folder: Awaited<ReturnType<typeof makeFolder>>
let dataDir: string

beforeEach(async () => {
  folder = await makeFolder()
  dataDir = join(folder.path, 'data')
})

afterEach(async () => {
  await endPrograms()
  await folder.remove()
})

describe('up', () => {
  it('prints URLs, a key and a curl that sends, and the same key at the next start', async () => {
    const first = await up()
    expect(first.key).toMatch(/^parley_\S{32,}$/)
    expect(await signIn(first)).toMatchObject({ status: 200, body: { session: { member: { role: 'owner' } } } })
    expect(await signIn(first)).toMatchObject({ status: 401 })
    expect((await fetch(first.gateway)).status).toBe(200)
    const demo = await runCurl(first.curls[1])
    expect(demo.status).toBe(200)
    expect(demo.body.messages.length).toBeGreaterThan(3)
    expect(await runCurl(first.curls[0])).toMatchObject({ status: 200, body: { success: true } })
    const texts = await textsOf(first)
    expect(texts.filter((text) => text === 'Hello from Parley')).toHaveLength(1)
    first.program.kill('SIGTERM')
    expect(await first.program.exited).toEqual({ code: 0, signal: null })

    const second = await up()
    expect(second.key).toBe(first.key)
    expect(await textsOf(second)).toEqual(texts)
    expect(await signIn(second)).toMatchObject({
      status: 200,
      body: { session: { member: { full_name: 'Demo Owner' } } },
    })
  })

  it('creates the schema of its own empty database, and is found by the demo commands', async () => {
    const database = await createTestDatabase()
    try {
      await database.pool.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
      const { program, url, key } = await up({ PARLEY_DATABASE_URL: urlOf(database.connection) })
      const demo = (...args: string[]) => runProgram(['demo', ...args], { env: { PARLEY_DATA_DIR: dataDir } })
      expect((await demo('env')).output).toEqual([`url='${url}'`, `key='${key}'`])
      await demo('say', 'Is it still there?')
      const read = await call(`${url}/conversations?chatNumber=5511900001234&limit=100`, 'GET', {
        headers: { authorization: `Bearer ${key}` },
      })
      expect(read.body.messages.map(({ message }: { message: string }) => message)).toContain('Is it still there?')
      program.kill('SIGTERM')
      await program.exited
    } finally {
      await database.drop()
    }
  })

  it('has no demo with --strict, and prints what leads to a received message', async () => {
    const { program, url, curls } = await up({}, ['--strict'])
    const { PARLEY_ADMIN_TOKEN: admin } = JSON.parse(await readFile(join(dataDir, 'secrets.json'), 'utf8'))
    const write = async () => {
      const body = { phone_number_id: '3001', from: '5511999990000', type: 'text', text: 'hello', repeat: false }
      return (await call(`${url}/_sim/inbound`, 'POST', { key: admin, body })).body.delivered
    }
    expect(curls).toHaveLength(3)
    for (const curl of curls) expect(await runCurl(`admin='${admin}'; ${curl}`)).toMatchObject({ status: 200 })
    const other = { env: { PARLEY_DATA_DIR: dataDir } }
    const made = await runProgram(['org', 'create', '--name', 'Acme', '--slug', 'acme', '--country', 'BR'], other)
    expect(made.code).toBe(0)
    const config = await runProgram(['config', '--json'], other)
    const settings = JSON.parse(config.output.join('')) as { name: string; value: string }[]
    const upstream = settings.find(({ name }) => name === 'PARLEY_UPSTREAM_URL')
    expect(upstream?.value).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v23\.0$/)
    const { body } = await call(`${url}/admin/organizations`, 'GET', { key: admin })
    const given = { access_token: 'EAAtoken', app_secret: 'app-secret' }
    const path = `${url}/admin/organizations/${body.organizations[0].id}/upstream/connect`
    expect(await call(path, 'POST', { key: admin, body: given })).toMatchObject({ body: { connected: true } })
    expect(await write()).toBe(false)
    const published = await call(`${url}/_sim/apps/1001`, 'PATCH', { key: admin, body: { published: true } })
    expect([published.status, await write()]).toEqual([200, true])
    program.kill('SIGTERM')
    await program.exited
  })

  it('is not needed for a demo: with serve, the command that sends creates it', async () => {
    const env = { PARLEY_DATA_DIR: dataDir, PARLEY_UPSTREAM_URL: 'sandbox', PARLEY_PORT: String(await freePort()) }
    const service = await startService({ ...env, PARLEY_HOST: '0.0.0.0', PARLEY_LOG_LEVEL: 'error' })
    for (const text of ['Hello', 'Again'])
      expect((await runProgram(['demo', 'send', text], { env: { ...env, PARLEY_HOST: '0.0.0.0' } })).output).toEqual([
        expect.stringMatching(`^Sent to \\+5511900001234: ${text} \\(wamid\\..+\\)$`),
      ])
    const real = await runProgram(['demo', 'send', 'Hello'], { env: { PARLEY_DATA_DIR: dataDir } })
    expect(real.code).toBe(1)
    expect(real.errors.join('\n')).toContain('sends to the sandbox only')
    service.program.kill('SIGTERM')
    await service.program.exited
  })

  it('is found by commands in another shell, until serve replaces it', async () => {
    const { program, url } = await up()
    const other = { env: { PARLEY_DATA_DIR: dataDir } }
    const config = await runProgram(['config', '--json'], other)
    expect(JSON.parse(config.output.join(''))).toEqual(
      expect.arrayContaining([
        { name: 'PARLEY_UPSTREAM_URL', value: 'sandbox', source: 'up' },
        { name: 'PARLEY_ALLOWED_PRIVATE_HOSTS', value: '127.0.0.0/8,::1', source: 'up' },
        { name: 'PARLEY_PORT', value: new URL(url).port, source: 'up' },
      ]),
    )
    const members = await runProgram(['member', 'list', 'demo', '--json'], other)
    const [{ id }] = JSON.parse(members.output.join(''))
    const link = await runProgram(['member', 'link', id], other)
    expect(link.output.join('\n')).toContain(`${url}/console/sign-in#`)
    program.kill('SIGTERM')
    await program.exited

    const service = await startService({ PARLEY_DATA_DIR: dataDir, PARLEY_LOG_LEVEL: 'warn' })
    const after = await runProgram(['config', '--json'], other)
    expect(after.output.join('')).not.toContain('"up"')
    service.program.kill('SIGTERM')
  })

  it('starts again after everything was killed', async () => {
    const first = await up()
    const texts = await textsOf(first)
    await killEverything(first.program)
    const second = await up()
    expect(second.key).toBe(first.key)
    expect(await textsOf(second)).toEqual(texts)
    expect(await runCurl(second.curls[0])).toMatchObject({ status: 200 })
  })

  it.each(['demo.json', 'secrets.json', 'postgres'])(
    'completes a first start that was killed at its %s',
    async (sign) => {
      const program = await startProgram(['up'], { env: environment() })
      program.firstLine.catch(() => undefined)
      await vi.waitFor(async () => expect(await readdir(dataDir)).toContain(sign), patience)
      await killEverything(program)
      const next = await up()
      const texts = await textsOf(next)
      expect(texts.length).toBeGreaterThan(3)
      expect(new Set(texts).size).toBe(texts.length)
      expect(await organizationsOf(next)).toHaveLength(1)
    },
  )
})

interface Up {
  program: Program
  url: string
  key: string
  /** Where the gateway answers. */
  gateway: string
  /** What the printed link has after its #. */
  signInToken: string
  /** The printed commands: one that sends, one that reads. */
  curls: string[]
}

function environment(): Record<string, string> {
  return { PARLEY_DATA_DIR: dataDir, PARLEY_PORT: '0' }
}

async function up(env: Record<string, string> = {}, options: string[] = []): Promise<Up> {
  const program = await startProgram(['up', ...options], { env: { ...environment(), ...env } })
  const line = await program.firstLine
  await vi.waitFor(() => expect(program.output.at(-1)).toMatch(/^Ctrl-C/), patience)
  const text = program.output.join('\n')
  return {
    program,
    url: line.slice('parley ready on '.length),
    key: /API key +(\S+)/.exec(text)?.[1] ?? '',
    gateway: /Gateway +(\S+)/.exec(text)?.[1] ?? '',
    signInToken: /Sign in +http:\/\/127\.0\.0\.1:\d+\/console\/sign-in#(\S+) \(works once\)$/m.exec(text)?.[1] ?? '',
    curls: [...text.matchAll(/^ *(curl (?:.*\\\n)*.*)$/gm)].map(([, command = '']) => command),
  }
}

/** Does what the page does with the link. */
function signIn({ url, signInToken: token }: Up): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  return call(`${url}/console/api/session/link`, 'POST', { headers, body: JSON.stringify({ token }) })
}

/** Lets a shell split the command as it would for curl, and does what curl would. */
async function runCurl(command: string | undefined): Promise<Answer> {
  const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}`
  const { stdout } = await promisify(execFile)('sh', ['-c', script])
  const { values, positionals } = parseArgs({
    args: stdout.split('\0').slice(0, -1),
    options: {
      request: { type: 'string', short: 'X', default: 'GET' },
      header: { type: 'string', short: 'H', multiple: true, default: [] },
      data: { type: 'string', short: 'd' },
    },
    allowPositionals: true,
  })
  const headers = Object.fromEntries(
    values.header.map((header) => [header.split(': ')[0]?.toLowerCase(), header.split(': ')[1]]),
  )
  return call(String(positionals[0]), values.request, { headers, body: values.data })
}

/** What the conversation of the printed examples holds, oldest first. */
async function textsOf({ curls }: Up): Promise<string[]> {
  const { body } = await runCurl(curls[1]?.replace('chatNumber=', 'limit=100&ascending=true&chatNumber='))
  return body.messages.map(({ message }: { message: string }) => message)
}

async function organizationsOf({ url }: Up): Promise<unknown[]> {
  const { PARLEY_ADMIN_TOKEN: key } = JSON.parse(await readFile(join(dataDir, 'secrets.json'), 'utf8'))
  return (await call(`${url}/admin/organizations`, 'GET', { key })).body.organizations
}

/** PostgreSQL ends a process of its own now and then; one that has gone in between is as dead as it shall be. */
function kill(victim: number): void {
  try {
    process.kill(victim, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** The service, PostgreSQL and its watchdog. */
async function killEverything({ pid, exited }: Program): Promise<void> {
  for (const victim of await stillRunning([pid, ...(await descendantsOf(pid))])) kill(victim)
  expect(await exited).toEqual({ code: null, signal: 'SIGKILL' })
}
