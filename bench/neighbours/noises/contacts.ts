import type { Amounts, Noise, NoiseKind } from '../noise.js'
import { askForEach, keepAsking } from '../requests.js'
import { ask, countJobs, createTenant, deleteTenant, type Stage, succeed, type Tenant, untilTrue } from '../stage.js'

const ERASURE_WIDTH = 16
const IMPORT_WIDTH = 4
const CSV = { 'content-type': 'text/csv' }

/** Raw callbacks that have been processed, each with the text of a long message. */
const insertCallbacks = `
  INSERT INTO callbacks (organization_id, id, body)
  SELECT $1, gen_random_uuid(), convert_to(jsonb_build_object('n', n, 'text', repeat(md5(n::text), 60))::text, 'UTF8')
  FROM generate_series(1, $2::int) AS n`

/** Many contacts at once. */
export const contactNoises: readonly NoiseKind[] = [
  {
    name: 'erasures',
    title: 'erasures of contacts, with many raw callbacks stored',
    work: 'erasure',
    start: startErasures,
  },
  {
    name: 'imports',
    title: 'imports of large files of contacts',
    work: 'import',
    start: startImports,
  },
]

async function startErasures(stage: Stage, { erasures, storedCallbacks }: Amounts): Promise<Noise> {
  const tenant = await createTenant(stage, 'Noisy')
  const { url } = stage
  const { key } = tenant
  await stage.database.query(insertCallbacks, [tenant.id, storedCallbacks])
  const numbers = numbersFrom(0, erasures)
  await succeed('POST', `${url}/contacts/import`, { key, body: csvOf(numbers), headers: CSV })
  await askForEach(numbers, ERASURE_WIDTH, [200], (number) =>
    ask('DELETE', `${url}/contact?phone_number=${number}`, { key }),
  )
  return { remaining: () => countJobs(stage, tenant, 'erasure'), stop: () => deleteTenant(stage, tenant) }
}

async function startImports(stage: Stage, { importedRows }: Amounts): Promise<Noise> {
  const tenant = await createTenant(stage, 'Noisy')
  const body = csvOf(numbersFrom(0, importedRows))
  // 404: the organization was deleted meanwhile.
  const requests = keepAsking(IMPORT_WIDTH, [200, 404], () =>
    ask('POST', `${stage.url}/contacts/import`, { key: tenant.key, body, headers: CSV }),
  )
  await untilTrue('no row was imported', () => hasContacts(stage, tenant))
  return {
    remaining: async () => requests.inFlight,
    stop: async () => {
      await deleteTenant(stage, tenant)
      await requests.end()
    },
  }
}

function numbersFrom(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `55419${(70_000_000 + first + index).toString()}`)
}

function csvOf(numbers: readonly string[]): string {
  return ['phone_number', ...numbers].join('\n')
}

async function hasContacts({ database }: Stage, { id }: Tenant): Promise<boolean> {
  const { rowCount } = await database.query('SELECT FROM contacts WHERE organization_id = $1 LIMIT 1', [id])
  return rowCount === 1
}
