import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config/settings.js'
import { findKeyOrganization } from '../../core/identity/gateway-key.js'
import { openBusinessNumber } from '../../core/organizations/business-number.js'
import { readSchema } from '../../database/migrations/state.js'
import { type Database, openDatabase } from '../../database/pool.js'
import { createSecretBox } from '../../lib/crypto/secret-box.js'
import { loadSecrets } from '../../secrets.js'
import { listEncryptedSamples } from '../../storage/maintenance/encrypted-samples.js'
import { listSendingTenants } from '../../storage/organizations/organizations.js'
import { createUpstreamClient } from '../../upstream/client.js'
import { type Check, type Finding, failed, ok, warning } from './check.js'

const CALL_MS = 5_000
const MAX_ORGANIZATIONS = 20

/** The checks of whether the upstream can reach the service at its public address. */
export function addressChecks({ publicUrl }: Config): Check[] {
  const remedy = 'check PARLEY_PUBLIC_URL, its name, its certificate and the proxy (docs/production.md#tls-and-proxies)'
  return [
    {
      name: 'public address',
      remedy,
      run: async () => {
        if (publicUrl === undefined)
          return warning('PARLEY_PUBLIC_URL is not set', 'set it to the https address of the service')
        const answer = await call(`${publicUrl}/healthz`)
        const found = `${publicUrl}/healthz answers ${answer.status}`
        if (answer.status !== 200) return failed(found, remedy)
        return publicUrl.startsWith('https:')
          ? ok(found)
          : warning(found, 'use https: the upstream accepts nothing else')
      },
    },
    {
      name: 'callbacks',
      remedy,
      run: async () => {
        if (publicUrl === undefined) return ok('not checked: PARLEY_PUBLIC_URL is not set')
        // No organization has this token, so the service refuses it; a proxy in between would answer something else.
        const query = new URLSearchParams({
          'hub.mode': 'subscribe',
          'hub.verify_token': 'doctor',
          'hub.challenge': '1',
        })
        const answer = await call(`${publicUrl}/hooks/upstream?${query}`)
        const found = `${publicUrl}/hooks/upstream answers ${answer.status}`
        if (answer.status === 403 && answer.body.includes('Invalid verify token'))
          return ok(`${publicUrl}/hooks/upstream is reachable`)
        return answer.status === 503 && answer.body.includes('Service unavailable')
          ? failed(`${found}: the service is reachable, and cannot work`, 'see its /readyz (docs/when-it-is-broken.md)')
          : failed(`${found}, which is not Parley's answer`, remedy)
      },
    },
  ]
}

async function call(url: string): Promise<{ status: number; body: string }> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(CALL_MS), redirect: 'manual' }).catch(
    (error: Error) => {
      throw new Error(
        `${url} cannot be reached (${error.cause instanceof Error ? error.cause.message : error.message})`,
      )
    },
  )
  return { status: answer.status, body: await answer.text() }
}

/** The check of whether this process can decrypt the stored credentials. */
export function secretChecks(config: Config, database: Database): Check[] {
  const remedy = 'set the PARLEY_SECRET that encrypted them, the same for every process'
  return [
    {
      name: 'secrets',
      remedy,
      run: async () => {
        const { state } = await readSchema(database.pool)
        const hasTables = state !== 'empty' && state !== 'unreleased'
        const samples = hasTables ? await listEncryptedSamples(database) : []
        const secrets = await readSecrets(config)
        const unknown = samples.filter((sample) => secrets?.knows(sample) !== true)
        if (unknown.length > 0) return failed('stored credentials were encrypted with another PARLEY_SECRET', remedy)
        return config.databaseUrl !== undefined && config.masterKeys === undefined
          ? warning(
              `PARLEY_SECRET is not set: the key is only in ${config.dataDir}`,
              'set it to the one that secrets.json there has (a new one if there is none yet), the same for every process',
            )
          : ok(samples.length === 0 ? 'no credentials are stored yet' : 'the stored credentials can be read')
      },
    },
  ]
}

/** The check of the organization of the gateway key, if there is such a key. */
export function gatewayKeyChecks({ gatewayOrganization: organization }: Config, database: Database): Check[] {
  if (organization === undefined) return []
  const remedy = 'set PARLEY_GATEWAY_ORGANIZATION to the id or slug of an organization (parley org list)'
  return [
    {
      name: 'gateway key',
      remedy,
      run: async () => {
        const found = await findKeyOrganization(database, { organization })
        return found === null
          ? failed(`PARLEY_GATEWAY_ORGANIZATION="${organization}" is no organization`, remedy)
          : ok(`PARLEY_GATEWAY_KEY creates instances of ${found.name}`)
      },
    },
  ]
}

/** The check of the replica, if there is one. */
export function replicaChecks({ replicaUrl }: Config): Check[] {
  if (replicaUrl === undefined) return []
  const remedy = 'check PARLEY_REPLICA_URL, and that the replica is running (docs/scaling.md)'
  return [
    {
      name: 'replica',
      remedy,
      run: async () => {
        const replica = openDatabase({ connectionString: replicaUrl }, 1, () => undefined)
        try {
          const { rows } = await replica.pool.query('SELECT pg_is_in_recovery() AS standby')
          return rows[0].standby
            ? ok('the replica is reachable')
            : failed('it is not a replica: it accepts writes', remedy)
        } finally {
          await replica.close()
        }
      },
    },
  ]
}

const REFUSED = 'set the connection of the organization again, with a valid token: parley org connect ORG'
const UNANSWERED =
  "wait until the upstream answers; if it should, check PARLEY_UPSTREAM_URL and this machine's way to it (docs/runbook.md#parleyupstreamunknown)"

/** The check of whether the upstream accepts the stored credentials; it reads one number of each organization. */
export function upstreamChecks(config: Config, database: Database): Check[] {
  return [
    {
      name: 'upstream',
      remedy: REFUSED,
      run: async () => {
        if (config.upstreamUrl === 'sandbox') return ok('not checked: it is the sandbox')
        return checkNumbers(config, database)
      },
    },
  ]
}

async function checkNumbers(config: Config, database: Database): Promise<Finding> {
  const tenants = await listSendingTenants(database, MAX_ORGANIZATIONS)
  if (tenants.length === 0) return ok('no organization has credentials yet')
  const secrets = await readSecrets(config)
  if (secrets === null) return failed('there is no PARLEY_SECRET to decrypt credentials with', 'set PARLEY_SECRET')
  const client = createUpstreamClient(config.upstreamUrl)
  try {
    const problems = await Promise.all(
      tenants.map(async ({ id, slug, upstream }) => {
        const number = openBusinessNumber({ secrets }, id, upstream)
        const asked = await client.findNumber(number, Math.min(config.upstreamTimeoutMs, CALL_MS))
        if (asked.outcome === 'found') return []
        const text = `${slug}: ${asked.text.replaceAll(number.accessToken, '…')}`
        return [{ text, isRefused: asked.outcome === 'refused' }]
      }),
    )
    const bad = problems.flat()
    const found = bad.map(({ text }) => text)
    const remedy = bad.some(({ isRefused }) => isRefused) ? REFUSED : UNANSWERED
    const which = tenants.length === MAX_ORGANIZATIONS ? `the first ${MAX_ORGANIZATIONS}` : tenants.length
    return found.length === 0 ? ok(`the credentials of ${which} organizations work`) : failed(found.join('; '), remedy)
  } finally {
    await client.close()
  }
}

/** Secrets that do not exist are not created. */
async function readSecrets(config: Config) {
  const isSet = config.adminToken !== undefined && config.masterKeys !== undefined
  const exist =
    isSet ||
    (await access(join(config.dataDir, 'secrets.json')).then(
      () => true,
      () => false,
    ))
  const loaded = exist ? await loadSecrets(config) : null
  if (loaded?.ok === false) throw new Error(loaded.problem)
  return loaded && createSecretBox(loaded.secrets.masterKeys)
}
