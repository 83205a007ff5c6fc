import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Config, configWarnings, describeConfig, readConfig } from '../src/config.js'

function configOf(env: Record<string, string | undefined>): Config {
  const result = readConfig(env)
  if (!result.ok) throw new Error(result.problem)
  return result.config
}

function problemOf(env: Record<string, string | undefined>): string {
  const result = readConfig(env)
  return result.ok ? 'no problem' : result.problem
}

const database = { PARLEY_DATABASE_URL: 'postgres://parley:hunter2@db.internal:5432/parley' }

describe('readConfig', () => {
  it('has a default for everything', () => {
    expect(configOf({})).toEqual({
      host: '127.0.0.1',
      port: 8080,
      publicUrl: undefined,
      dataDir: resolve('data'),
      databaseUrl: undefined,
      adminToken: undefined,
      masterKeys: undefined,
      upstreamUrl: 'https://graph.facebook.com/v23.0',
      rateLimit: 200,
      upstreamTimeoutMs: 15_000,
      allowedPrivateHosts: [],
      roles: ['api', 'worker', 'gateway'],
      channelNames: ['chat', 'whatsapp'],
      logLevel: 'info',
      fromEnvironment: new Set(),
    })
  })

  it('takes empty variables for unset and leaves the variables of others alone', () => {
    expect(configOf({ PARLEY_PORT: '', PARLEY_ROLES: '  ', PARLEY_TYPO: '', PATH: '/bin', PORT: 'x' })).toEqual(
      configOf({}),
    )
  })

  it.each<[string, string, Partial<Config>]>([
    ['PARLEY_HOST', '0.0.0.0', { host: '0.0.0.0' }],
    ['PARLEY_HOST', '::1', { host: '::1' }],
    ['PARLEY_HOST', 'parley-1.internal', { host: 'parley-1.internal' }],
    ['PARLEY_PORT', '0', { port: 0 }],
    ['PARLEY_PORT', ' 65535 ', { port: 65_535 }],
    ['PARLEY_PUBLIC_URL', 'https://chat.example.com/', { publicUrl: 'https://chat.example.com' }],
    ['PARLEY_PUBLIC_URL', 'http://10.0.0.1:8080/parley//', { publicUrl: 'http://10.0.0.1:8080/parley' }],
    ['PARLEY_DATA_DIR', 'var/parley', { dataDir: resolve('var/parley') }],
    ['PARLEY_DATABASE_URL', 'postgres:///parley?host=/run/pg', { databaseUrl: 'postgres:///parley?host=/run/pg' }],
    ['PARLEY_DATABASE_URL', 'postgresql://db/parley', { databaseUrl: 'postgresql://db/parley' }],
    ['PARLEY_ADMIN_TOKEN', 'sixteen-letters!', { adminToken: 'sixteen-letters!' }],
    ['PARLEY_SECRET', 'current-key-0123, older-key-456789', { masterKeys: ['current-key-0123', 'older-key-456789'] }],
    ['PARLEY_UPSTREAM_URL', 'sandbox', { upstreamUrl: 'sandbox' }],
    ['PARLEY_UPSTREAM_URL', 'http://127.0.0.1:9000/v23.0/', { upstreamUrl: 'http://127.0.0.1:9000/v23.0' }],
    ['PARLEY_RATE_LIMIT', '0', { rateLimit: 0 }],
    ['PARLEY_RATE_LIMIT', '0.5', { rateLimit: 0.5 }],
    ['PARLEY_UPSTREAM_TIMEOUT_MS', '1', { upstreamTimeoutMs: 1 }],
    ['PARLEY_UPSTREAM_TIMEOUT_MS', '25000', { upstreamTimeoutMs: 25_000 }],
    [
      'PARLEY_ALLOWED_PRIVATE_HOSTS',
      '127.0.0.0/8, ::1, fd00::/8, Shop.Local, 10.1.2.3',
      { allowedPrivateHosts: ['127.0.0.0/8', '::1', 'fd00::/8', 'shop.local', '10.1.2.3'] },
    ],
    ['PARLEY_ROLES', 'worker,api,api', { roles: ['api', 'worker'] }],
    ['PARLEY_CHANNEL_NAMES', 'Chat,telegram', { channelNames: ['chat', 'telegram'] }],
    ['PARLEY_LOG_LEVEL', 'silent', { logLevel: 'silent' }],
  ])('accepts %s=%s', (name, value, expected) => {
    const config = configOf({ [name]: value })
    expect(config).toMatchObject(expected)
    expect([...config.fromEnvironment]).toEqual([name])
  })

  it.each([
    ['PARLEY_HOST', 'http://localhost'],
    ['PARLEY_HOST', 'localhost:8080'],
    ['PARLEY_HOST', '[::1]'],
    ['PARLEY_HOST', '127.0.0'],
    ['PARLEY_HOST', '-a.example'],
    ['PARLEY_PORT', '65536'],
    ['PARLEY_PORT', '-1'],
    ['PARLEY_PORT', '80.5'],
    ['PARLEY_PORT', '0x50'],
    ['PARLEY_PUBLIC_URL', 'chat.example.com'],
    ['PARLEY_PUBLIC_URL', 'ftp://chat.example.com'],
    ['PARLEY_PUBLIC_URL', 'https://chat.example.com?x'],
    ['PARLEY_PUBLIC_URL', 'https://chat.example.com/#x'],
    ['PARLEY_UPSTREAM_URL', 'sandbx'],
    ['PARLEY_RATE_LIMIT', '-1'],
    ['PARLEY_RATE_LIMIT', '0.4'],
    ['PARLEY_RATE_LIMIT', 'off'],
    ['PARLEY_RATE_LIMIT', 'Infinity'],
    ['PARLEY_UPSTREAM_TIMEOUT_MS', '0'],
    ['PARLEY_UPSTREAM_TIMEOUT_MS', '25001'],
    ['PARLEY_UPSTREAM_TIMEOUT_MS', '15s'],
    ['PARLEY_ALLOWED_PRIVATE_HOSTS', '10.0.0.0/33'],
    ['PARLEY_ALLOWED_PRIVATE_HOSTS', '::1/129'],
    ['PARLEY_ALLOWED_PRIVATE_HOSTS', '10.0.0.0/8/8'],
    ['PARLEY_ALLOWED_PRIVATE_HOSTS', '10.0.0.256'],
    ['PARLEY_ALLOWED_PRIVATE_HOSTS', 'localhost:8080'],
    ['PARLEY_ALLOWED_PRIVATE_HOSTS', 'shop.local/8'],
    ['PARLEY_ALLOWED_PRIVATE_HOSTS', 'fe80::1%eth0'],
    ['PARLEY_ALLOWED_PRIVATE_HOSTS', 'localhost,'],
    ['PARLEY_ROLES', 'api,wroker'],
    ['PARLEY_ROLES', ','],
    ['PARLEY_CHANNEL_NAMES', 'chat,,telegram'],
    ['PARLEY_LOG_LEVEL', 'verbose'],
  ])('refuses %s=%s, naming both', (name, value) => {
    const problem = problemOf({ [name]: value })
    expect(problem).toMatch(new RegExp(`^${name}=`))
    expect(problem).toContain(`=${JSON.stringify(value)}: expected `)
  })

  it.each([
    ['PARLEY_ADMIN_TOKEN', 'sixteen letters and a space'],
    ['PARLEY_ADMIN_TOKEN', 'sixteen-letters-é'],
    ['PARLEY_SECRET', 'current-key-0123,'],
    ['PARLEY_SECRET', ',older-key-456789'],
    ['PARLEY_SECRET', 'current-key-0123,current-key-0123'],
    ['PARLEY_DATABASE_URL', 'postgres:parley:hunter2@db/parley'],
  ])('refuses %s=%s without repeating it', (name, value) => {
    const problem = problemOf({ [name]: value })
    expect(problem).toMatch(new RegExp(`^${name}=\\*\\*\\*: expected `))
    expect(problem).not.toContain(value)
  })

  it.each([
    ['PARLEY_DATABASE_URL', 'mysql://parley:hunter2@db/parley', '"mysql://parley:***@db/parley"'],
    ['PARLEY_DATABASE_URL', 'postgres://parley:hun/te@r2@db:x/parley', '"postgres://parley:***@db:x/parley"'],
    ['PARLEY_UPSTREAM_URL', 'https://me:hunter2@upstream.example', '"https://me:***@upstream.example"'],
    ['PARLEY_PUBLIC_URL', 'https://me:hunter2@chat.example', '"https://me:***@chat.example"'],
  ])('hides the password of a refused %s', (name, value, masked) => {
    expect(problemOf({ [name]: value })).toContain(`${name}=${masked}: expected `)
  })

  it('stays on one line whatever the value holds', () => {
    expect(problemOf({ PARLEY_PORT: '80\n81' })).toMatch(/^PARLEY_PORT="80\\n81": .*$/)
  })

  it('refuses a variable that it does not know, naming those it does', () => {
    const problem = problemOf({ PARLEY_DATABSE_URL: 'postgres://db/parley' })
    expect(problem).toContain('PARLEY_DATABSE_URL is not a setting of Parley')
    expect(problem).toContain('PARLEY_DATABASE_URL')
  })

  it.each(['PARLEY_MEDIA_URL', 'PARLEY_MEDIA_SECRET_KEY', 'PARLEY_TRANSCRIBE_MODEL', 'PARLEY_TEST_DATABASE_URL'])(
    'lets %s pass, which is not its own',
    (name) => {
      expect(configOf({ [name]: 'anything' })).toEqual(configOf({}))
    },
  )
})

describe('contradictions', () => {
  it('refuses the embedded database for a process that leaves the API to another', () => {
    expect(problemOf({ PARLEY_ROLES: 'worker' })).toMatch(/PARLEY_ROLES=worker .*set PARLEY_DATABASE_URL/)
    expect(configOf({ PARLEY_ROLES: 'worker', ...database }).roles).toEqual(['worker'])
  })

  it('refuses the built-in sandbox for a process that leaves the API to another', () => {
    const env = { PARLEY_ROLES: 'worker,gateway', PARLEY_UPSTREAM_URL: 'sandbox', ...database }
    expect(problemOf(env)).toMatch(/PARLEY_ROLES=worker,gateway .*PARLEY_UPSTREAM_URL=sandbox/)
    expect(configOf({ ...env, PARLEY_ROLES: 'api' }).upstreamUrl).toBe('sandbox')
  })

  it('sees nothing wrong with the sandbox behind a public address', () => {
    expect(configOf({ PARLEY_HOST: '0.0.0.0', PARLEY_UPSTREAM_URL: 'sandbox' }).host).toBe('0.0.0.0')
  })
})

describe('describeConfig', () => {
  const rowOf = (rows: ReturnType<typeof describeConfig>, name: string) => rows.find((row) => row.name === name)

  it('shows every variable with where its value comes from', () => {
    const rows = describeConfig(configOf({ PARLEY_PORT: '9000' }))
    expect(rows).toHaveLength(14)
    expect(rowOf(rows, 'PARLEY_PORT')).toEqual({ name: 'PARLEY_PORT', value: '9000', source: 'environment' })
    expect(rowOf(rows, 'PARLEY_HOST')).toEqual({ name: 'PARLEY_HOST', value: '127.0.0.1', source: 'default' })
    expect(rowOf(rows, 'PARLEY_ROLES')?.value).toBe('api,worker,gateway')
    expect(rowOf(rows, 'PARLEY_SECRET')).toEqual({ name: 'PARLEY_SECRET', value: '(not loaded)', source: 'generated' })
  })

  it('masks what is secret, given or generated', () => {
    const secrets = { adminToken: 'generated-admin-token', masterKeys: ['current-key-0123', 'older-key-456789'] }
    const rows = describeConfig(configOf({ ...database, PARLEY_SECRET: secrets.masterKeys.join(',') }), secrets)
    expect(rowOf(rows, 'PARLEY_ADMIN_TOKEN')).toMatchObject({ value: '***', source: 'generated' })
    expect(rowOf(rows, 'PARLEY_SECRET')).toMatchObject({ value: '***,***', source: 'environment' })
    expect(rowOf(rows, 'PARLEY_DATABASE_URL')?.value).toBe('postgres://parley:***@db.internal:5432/parley')
    for (const secret of ['hunter2', secrets.adminToken, ...secrets.masterKeys])
      expect(JSON.stringify(rows)).not.toContain(secret)
  })

  it('masks a password among the parameters of the database URL', () => {
    const config = configOf({ PARLEY_DATABASE_URL: 'postgres:///parley?password=hunter2&host=/run/pg' })
    expect(rowOf(describeConfig(config), 'PARLEY_DATABASE_URL')?.value).toBe(
      'postgres:///parley?password=***&host=/run/pg',
    )
  })
})

describe('warnings', () => {
  it.each([
    [{ PARLEY_ADMIN_TOKEN: 'short' }, 'PARLEY_ADMIN_TOKEN is short'],
    [{ PARLEY_SECRET: 'long-enough-to-be-one,short' }, 'PARLEY_SECRET is short'],
    [{ PARLEY_ADMIN_TOKEN: 'long-enough-to-be-one', PARLEY_SECRET: 'long-enough-to-be-one' }, 'are the same'],
  ])('of %j', (env, text) => {
    const warnings = configWarnings(configOf(env))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(text)
    expect(warnings[0]).not.toContain('long-enough-to-be-one')
  })

  it('none where all is well', () => {
    expect(configWarnings(configOf({}))).toEqual([])
  })
})
