import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configWarnings } from '../src/config/checks.js'
import { describeConfig } from '../src/config/describe.js'
import { readConfig } from '../src/config/read.js'
import type { Config } from '../src/config/settings.js'
import type { BucketConfig } from '../src/config/values.js'

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

const defaultBucket = {
  kind: 's3' as const,
  bucket: 'media',
  prefix: '',
  endpoint: undefined,
  region: 'us-east-1',
  accessKey: undefined,
  secretKey: undefined,
}
const bucket = (given: Partial<Omit<BucketConfig, 'kind'>>) => ({ ...defaultBucket, ...given })
const transcriber = (base: string) => ({ url: `${base}/v1/audio/transcriptions`, key: undefined, model: 'whisper-1' })

const collector = (base: string) => ({ url: `${base}/v1/traces`, headers: {}, sampling: 0.01 })

describe('readConfig', () => {
  it('has a default for everything', () => {
    expect(configOf({})).toEqual({
      host: '127.0.0.1',
      port: 8080,
      publicUrl: undefined,
      dataDir: resolve('data'),
      drainSeconds: 0,
      databaseUrl: undefined,
      databaseConnections: 30,
      adminToken: undefined,
      masterKeys: undefined,
      upstreamUrl: 'https://graph.facebook.com/v23.0',
      media: { kind: 'files' },
      rateLimit: 200,
      upstreamTimeoutMs: 15_000,
      allowedPrivateHosts: [],
      roles: ['api', 'worker', 'gateway'],
      channelNames: ['chat', 'whatsapp'],
      logLevel: 'info',
      metricsToken: undefined,
      tracing: null,
      transcribe: null,
      linkedDeviceLibrary: 'baileys',
      gatewayKey: undefined,
      gatewayOrganization: undefined,
      linkedDeviceUrl: null,
      fromEnvironment: new Set(),
      fromUp: new Set(),
    })
  })

  it('treats empty variables as unset and ignores unrelated variables', () => {
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
    ['PARLEY_CELL', 'eu1', { cell: 'eu1' }],
    ['PARLEY_DRAIN_SECONDS', '10', { drainSeconds: 10 }],
    ['PARLEY_DATABASE_CONNECTIONS', '15', { databaseConnections: 15 }],
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
    ['PARLEY_MEDIA_URL', 's3://media', { media: bucket({}) }],
    ['PARLEY_MEDIA_URL', 's3://media/', { media: bucket({}) }],
    ['PARLEY_MEDIA_URL', 's3://media/parley/eu/', { media: bucket({ prefix: 'parley/eu' }) }],
    ['PARLEY_MEDIA_URL', 's3://media?region=eu-west-1', { media: bucket({ region: 'eu-west-1' }) }],
    [
      'PARLEY_MEDIA_URL',
      's3://my.media-1/p?endpoint=http://10.0.0.1:9000/&region=local',
      { media: bucket({ bucket: 'my.media-1', prefix: 'p', endpoint: 'http://10.0.0.1:9000', region: 'local' }) },
    ],
    [
      'PARLEY_MEDIA_URL',
      's3://media?endpoint=https%3A%2F%2Fs3.example.com',
      { media: bucket({ endpoint: 'https://s3.example.com' }) },
    ],
    ['PARLEY_OTLP_URL', 'http://collector:4318/', { tracing: collector('http://collector:4318') }],
    ['PARLEY_OTLP_URL', 'https://c.example/otlp/v1/traces', { tracing: collector('https://c.example/otlp') }],
    ['PARLEY_TRANSCRIBE_URL', 'http://speech:8000', { transcribe: transcriber('http://speech:8000') }],
    ['PARLEY_TRANSCRIBE_URL', 'http://speech:8000/v1/', { transcribe: transcriber('http://speech:8000') }],
    ['PARLEY_TRANSCRIBE_URL', 'https://x.example/ai/v1', { transcribe: transcriber('https://x.example/ai') }],
    [
      'PARLEY_TRANSCRIBE_URL',
      'http://speech:8000/v1/audio/transcriptions',
      { transcribe: transcriber('http://speech:8000') },
    ],
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
    ['PARLEY_DATABASE_CONNECTIONS', '14'],
    ['PARLEY_DATABASE_CONNECTIONS', '1001'],
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
    ['PARLEY_OTLP_URL', 'collector:4318'],
    ['PARLEY_TRACE_SAMPLING', '1.5'],
    ['PARLEY_MEDIA_URL', 'media'],
    ['PARLEY_MEDIA_URL', 'https://s3.example.com/media'],
    ['PARLEY_MEDIA_URL', 's3://'],
    ['PARLEY_MEDIA_URL', 's3:///prefix'],
    ['PARLEY_MEDIA_URL', 's3://me'],
    ['PARLEY_MEDIA_URL', 's3://media:9000/prefix'],
    ['PARLEY_MEDIA_URL', 's3://media/a//b'],
    ['PARLEY_MEDIA_URL', 's3://media/../b'],
    ['PARLEY_MEDIA_URL', 's3://media/a b'],
    ['PARLEY_MEDIA_URL', 's3://media?reigon=eu-west-1'],
    ['PARLEY_MEDIA_URL', 's3://media?region=eu-west-1&region=eu-west-2'],
    ['PARLEY_MEDIA_URL', 's3://media?region=eu_west'],
    ['PARLEY_MEDIA_URL', 's3://media?endpoint=s3.example.com'],
    ['PARLEY_MEDIA_URL', 's3://media?endpoint='],
    ['PARLEY_MEDIA_URL', 's3://media#x'],
    ['PARLEY_TRANSCRIBE_URL', 'speech:8000'],
    ['PARLEY_TRANSCRIBE_URL', 'http://speech:8000/v1?x'],
    ['PARLEY_TRANSCRIBE_MODEL', 'large v3'],
  ])('refuses %s=%s, naming both', (name, value) => {
    const problem = problemOf({ [name]: value })
    expect(problem).toMatch(new RegExp(`^${name}=`))
    expect(problem).toContain(`=${JSON.stringify(value)}: expected `)
  })

  it.each([
    ['PARLEY_ADMIN_TOKEN', 'sixteen letters and a space'],
    ['PARLEY_ADMIN_TOKEN', 'sixteen-letters-é'],
    ['PARLEY_MEDIA_ACCESS_KEY', 'access key'],
    ['PARLEY_MEDIA_SECRET_KEY', 'secret\tkey'],
    ['PARLEY_TRANSCRIBE_KEY', 'clé'],
    ['PARLEY_GATEWAY_KEY', '23-characters-and-short'],
    ['PARLEY_GATEWAY_KEY', 'thirty-letters-and-é-0123456789'],
    ['PARLEY_GATEWAY_KEY', 'parley_0123456789abcdef0123456789'],
    ['PARLEY_SECRET', 'current-key-0123,'],
    ['PARLEY_SECRET', ',older-key-456789'],
    ['PARLEY_SECRET', 'current-key-0123,current-key-0123'],
    ['PARLEY_DATABASE_URL', 'postgres:parley:hunter2@db/parley'],
  ])('refuses %s=%s without printing the value', (name, value) => {
    const problem = problemOf({ [name]: value })
    expect(problem).toMatch(new RegExp(`^${name}=\\*\\*\\*: expected `))
    expect(problem).not.toContain(value)
  })

  it.each([
    ['PARLEY_DATABASE_URL', 'mysql://parley:hunter2@db/parley', '"mysql://parley:***@db/parley"'],
    ['PARLEY_DATABASE_URL', 'postgres://parley:hun/te@r2@db:x/parley', '"postgres://parley:***@db:x/parley"'],
    ['PARLEY_MEDIA_URL', 's3://me:hunter2@media/prefix', '"s3://me:***@media/prefix"'],
    [
      'PARLEY_MEDIA_URL',
      's3://media?endpoint=https://me:hunter2@s3.example',
      '"s3://media?endpoint=https:***@s3.example"',
    ],
    ['PARLEY_UPSTREAM_URL', 'https://me:hunter2@upstream.example', '"https://me:***@upstream.example"'],
    ['PARLEY_PUBLIC_URL', 'https://me:hunter2@chat.example', '"https://me:***@chat.example"'],
  ])('hides the password of a refused %s', (name, value, masked) => {
    expect(problemOf({ [name]: value })).toContain(`${name}=${masked}: expected `)
  })

  it('stays on one line, even if the value contains line breaks', () => {
    expect(problemOf({ PARLEY_PORT: '80\n81' })).toMatch(/^PARLEY_PORT="80\\n81": .*$/)
  })

  it.each([
    ['PARLEY_DATABSE_URL', 'PARLEY_DATABASE_URL'],
    ['PARLEY_DATABASE', 'PARLEY_DATABASE_URL'],
    ['PARLEY_PROT', 'PARLEY_PORT'],
    ['PARLEY_DATADIR', 'PARLEY_DATA_DIR'],
    ['PARLEY_RATE_LIMITS', 'PARLEY_RATE_LIMIT'],
    ['PARLEY_GATEWAY_PROT', 'PARLEY_GATEWAY_PORT'],
    ['PARLEY_METRIC_TOKEN', 'PARLEY_METRICS_TOKEN'],
  ])('refuses the misspelt %s and says what is meant', (given, meant) => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    const said = `${given} is not a setting of Parley ${version.split('.', 2).join('.')}: did you mean ${meant}? `
    expect(problemOf({ [given]: '1' })).toMatch(
      new RegExp(`^${said.replaceAll(/[.?]/g, '\\$&')}.*newer version, remove it`),
    )
  })

  it.each(['KEY', 'URL', 'API_KEY', 'API_URL', 'BASE_URL', 'TOKEN', 'WEBHOOK_SECRET', 'ORG_ID', 'DEMO_CUSTOMER_PHONE'])(
    'leaves PARLEY_%s to bots and scripts',
    (name) => {
      expect(configOf({ [`PARLEY_${name}`]: 'anything' })).toEqual(configOf({}))
    },
  )

  it('accepts the variables of the test suite', () => {
    expect(configOf({ PARLEY_TEST_DATABASE_URL: 'anything' })).toEqual(configOf({}))
  })
})

describe('values from the options of up', () => {
  it('rank below the environment and above the defaults, and appear in describeConfig', () => {
    const up = { PARLEY_UPSTREAM_URL: 'sandbox', PARLEY_PORT: '9000', PARLEY_PUBLIC_URL: '' }
    const read = readConfig({ PARLEY_PORT: '9001' }, up)
    if (!read.ok) throw new Error(read.problem)
    expect(read.config).toMatchObject({ upstreamUrl: 'sandbox', port: 9001, publicUrl: undefined })
    const rows = describeConfig(read.config)
    const sourceOf = Object.fromEntries(rows.map(({ name, source }) => [name, source]))
    expect(sourceOf).toMatchObject({
      PARLEY_UPSTREAM_URL: 'up',
      PARLEY_PORT: 'environment',
      PARLEY_PUBLIC_URL: 'default',
    })
  })
})

describe('settings from several variables', () => {
  it('combine the bucket with its keys', () => {
    const env = {
      PARLEY_MEDIA_URL: 's3://media',
      PARLEY_MEDIA_ACCESS_KEY: 'access',
      PARLEY_MEDIA_SECRET_KEY: 'hunter2',
    }
    expect(configOf(env).media).toEqual({ ...defaultBucket, accessKey: 'access', secretKey: 'hunter2' })
  })

  it('combine the transcriber with its key and model', () => {
    const env = {
      PARLEY_TRANSCRIBE_URL: 'http://speech',
      PARLEY_TRANSCRIBE_KEY: 'hunter2',
      PARLEY_TRANSCRIBE_MODEL: 'Systran/faster-whisper-large-v3',
    }
    expect(configOf(env).transcribe).toEqual({
      url: 'http://speech/v1/audio/transcriptions',
      key: 'hunter2',
      model: 'Systran/faster-whisper-large-v3',
    })
  })
})

describe('contradictions', () => {
  it.each([
    [{ PARLEY_MEDIA_ACCESS_KEY: 'hunter2' }, 'PARLEY_MEDIA_ACCESS_KEY is set, but PARLEY_MEDIA_URL is not'],
    [
      { PARLEY_MEDIA_ACCESS_KEY: 'x', PARLEY_MEDIA_SECRET_KEY: 'hunter2' },
      'PARLEY_MEDIA_ACCESS_KEY is set, but PARLEY_MEDIA_URL is not',
    ],
    [
      { PARLEY_MEDIA_URL: 's3://media', PARLEY_MEDIA_ACCESS_KEY: 'hunter2' },
      'PARLEY_MEDIA_ACCESS_KEY is set, but PARLEY_MEDIA_SECRET_KEY is not',
    ],
    [
      { PARLEY_MEDIA_URL: 's3://media', PARLEY_MEDIA_SECRET_KEY: 'hunter2' },
      'PARLEY_MEDIA_SECRET_KEY is set, but PARLEY_MEDIA_ACCESS_KEY is not',
    ],
    [{ PARLEY_OTLP_TOKEN: 'hunter2' }, 'PARLEY_OTLP_TOKEN is set, but PARLEY_OTLP_URL is not'],
    [{ PARLEY_TRANSCRIBE_KEY: 'hunter2' }, 'PARLEY_TRANSCRIBE_KEY is set, but PARLEY_TRANSCRIBE_URL is not'],
    [{ PARLEY_TRANSCRIBE_MODEL: 'whisper-1' }, 'PARLEY_TRANSCRIBE_MODEL is set, but PARLEY_TRANSCRIBE_URL is not'],
    [{ PARLEY_GATEWAY_KEY: 'hunter2-hunter2-hunter2-hunter2' }, 'but PARLEY_GATEWAY_ORGANIZATION is not'],
    [{ PARLEY_GATEWAY_ORGANIZATION: 'acme' }, 'PARLEY_GATEWAY_ORGANIZATION is set, but PARLEY_GATEWAY_KEY is not'],
    [
      {
        PARLEY_GATEWAY_KEY: 'hunter2-hunter2-hunter2-hunter2',
        PARLEY_GATEWAY_ORGANIZATION: 'acme',
        PARLEY_ADMIN_TOKEN: 'hunter2-hunter2-hunter2-hunter2',
      },
      'PARLEY_GATEWAY_KEY and PARLEY_ADMIN_TOKEN are the same',
    ],
  ])('refuses %j', (env, text) => {
    expect(problemOf(env)).toContain(text)
    expect(problemOf(env)).not.toMatch(/hunter2|\n/)
  })

  it('accepts a gateway key with its organization, and never shows it', () => {
    const key = 'hunter2-hunter2-hunter2-hunter2'
    const config = configOf({ PARLEY_GATEWAY_KEY: key, PARLEY_GATEWAY_ORGANIZATION: 'acme' })
    expect(config).toMatchObject({ gatewayKey: key, gatewayOrganization: 'acme' })
    const shown = JSON.stringify(describeConfig(config))
    expect(shown).toContain('"acme"')
    expect(shown).not.toContain('hunter2')
  })

  it('refuses the embedded database for a process that leaves the API to another', () => {
    expect(problemOf({ PARLEY_ROLES: 'worker' })).toMatch(/PARLEY_ROLES=worker .*set PARLEY_DATABASE_URL/)
    expect(configOf({ PARLEY_ROLES: 'worker', ...database }).roles).toEqual(['worker'])
  })

  it('refuses the built-in sandbox for a process that leaves the API to another', () => {
    const env = { PARLEY_ROLES: 'worker,gateway', PARLEY_UPSTREAM_URL: 'sandbox', ...database }
    expect(problemOf(env)).toMatch(/PARLEY_ROLES=worker,gateway .*PARLEY_UPSTREAM_URL=sandbox/)
    expect(configOf({ ...env, PARLEY_ROLES: 'api' }).upstreamUrl).toBe('sandbox')
  })

  it('accepts the sandbox behind a public address', () => {
    expect(configOf({ PARLEY_HOST: '0.0.0.0', PARLEY_UPSTREAM_URL: 'sandbox' }).host).toBe('0.0.0.0')
  })
})

describe('describeConfig', () => {
  const rowOf = (rows: ReturnType<typeof describeConfig>, name: string) => rows.find((row) => row.name === name)

  it('shows every variable with the source of its value', () => {
    const rows = describeConfig(configOf({ PARLEY_PORT: '9000' }))
    expect(rows).toHaveLength(34)
    expect(rowOf(rows, 'PARLEY_PORT')).toEqual({ name: 'PARLEY_PORT', value: '9000', source: 'environment' })
    expect(rowOf(rows, 'PARLEY_HOST')).toEqual({ name: 'PARLEY_HOST', value: '127.0.0.1', source: 'default' })
    expect(rowOf(rows, 'PARLEY_ROLES')?.value).toBe('api,worker,gateway')
    expect(rowOf(rows, 'PARLEY_SECRET')).toEqual({ name: 'PARLEY_SECRET', value: '(not loaded)', source: 'generated' })
  })

  it('masks given and generated secrets', () => {
    const secrets = { adminToken: 'generated-admin-token', masterKeys: ['current-key-0123', 'older-key-456789'] }
    const rows = describeConfig(configOf({ ...database, PARLEY_SECRET: secrets.masterKeys.join(',') }), secrets)
    expect(rowOf(rows, 'PARLEY_ADMIN_TOKEN')).toMatchObject({ value: '***', source: 'generated' })
    expect(rowOf(rows, 'PARLEY_SECRET')).toMatchObject({ value: '***,***', source: 'environment' })
    expect(rowOf(rows, 'PARLEY_DATABASE_URL')?.value).toBe('postgres://parley:***@db.internal:5432/parley')
    for (const secret of ['hunter2', secrets.adminToken, ...secrets.masterKeys])
      expect(JSON.stringify(rows)).not.toContain(secret)
  })

  it('shows where media is stored and which transcriber is used, without keys', () => {
    const env = {
      PARLEY_MEDIA_URL: 's3://media/parley?endpoint=http://10.0.0.1:9000',
      PARLEY_MEDIA_ACCESS_KEY: 'hunter2-access',
      PARLEY_MEDIA_SECRET_KEY: 'hunter2-secret',
      PARLEY_TRANSCRIBE_URL: 'http://speech:8000',
      PARLEY_TRANSCRIBE_KEY: 'hunter2-transcribe',
    }
    const rows = describeConfig(configOf(env))
    expect(rowOf(rows, 'PARLEY_MEDIA_URL')).toMatchObject({
      value: 's3://media/parley?endpoint=http://10.0.0.1:9000&region=us-east-1',
      source: 'environment',
    })
    expect(rowOf(rows, 'PARLEY_MEDIA_ACCESS_KEY')?.value).toBe('***')
    expect(rowOf(rows, 'PARLEY_MEDIA_SECRET_KEY')?.value).toBe('***')
    expect(rowOf(rows, 'PARLEY_TRANSCRIBE_URL')?.value).toBe('http://speech:8000/v1/audio/transcriptions')
    expect(rowOf(rows, 'PARLEY_TRANSCRIBE_KEY')?.value).toBe('***')
    expect(rowOf(rows, 'PARLEY_TRANSCRIBE_MODEL')).toMatchObject({ value: 'whisper-1', source: 'default' })
    expect(JSON.stringify(rows)).not.toContain('hunter2')
  })

  it('shows the defaults of media and transcription', () => {
    const rows = describeConfig(configOf({}))
    expect(rowOf(rows, 'PARLEY_MEDIA_URL')?.value).toBe('(files in the data folder)')
    expect(rowOf(rows, 'PARLEY_MEDIA_SECRET_KEY')?.value).toBe('(none)')
    expect(rowOf(rows, 'PARLEY_TRANSCRIBE_URL')?.value).toBe('(off)')
    expect(rowOf(rows, 'PARLEY_TRANSCRIBE_MODEL')?.value).toBe('(off)')
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
    [{ PARLEY_DATABASE_URL: 'postgres://localhost/parley' }, 'PARLEY_SECRET is not set'],
    [{ PARLEY_ADMIN_TOKEN: 'long-enough-to-be-one', PARLEY_SECRET: 'long-enough-to-be-one' }, 'are the same'],
  ])('for %j', (env, text) => {
    const warnings = configWarnings(configOf(env))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(text)
    expect(warnings[0]).not.toContain('long-enough-to-be-one')
  })

  const LOCAL = '127.0.0.0/8,::1'
  it.each([
    [{ PARLEY_HOST: '0.0.0.0', PARLEY_ALLOWED_PRIVATE_HOSTS: LOCAL }, LOCAL],
    [{ PARLEY_HOST: '::', PARLEY_ALLOWED_PRIVATE_HOSTS: 'localhost,minio,10.0.0.7' }, 'localhost'],
    [{ PARLEY_PUBLIC_URL: 'https://chat.example', PARLEY_ALLOWED_PRIVATE_HOSTS: '10.0.0.0/8,minio' }, '10.0.0.0/8'],
  ])('for internal addresses that every organization may reach, if others can reach the service: %j', (env, named) => {
    expect(configWarnings(configOf(env))).toEqual([
      expect.stringMatching(`^PARLEY_ALLOWED_PRIVATE_HOSTS=${named} lets every organization reach `),
    ])
  })

  it.each([
    {},
    { PARLEY_ALLOWED_PRIVATE_HOSTS: LOCAL },
    { PARLEY_PUBLIC_URL: 'http://localhost:9000', PARLEY_ALLOWED_PRIVATE_HOSTS: LOCAL },
    { PARLEY_HOST: '0.0.0.0', PARLEY_ALLOWED_PRIVATE_HOSTS: 'minio,10.0.0.7' },
  ])('none for a valid configuration: %j', (env) => {
    expect(configWarnings(configOf(env))).toEqual([])
  })
})
