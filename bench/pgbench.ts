import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { CONTACTS, numberOf } from './data.js'
import type { LoadResult, LoadShape } from './generator.js'
import type { World } from './world.js'

const DEBIAN = '/usr/lib/postgresql'

/** The path of pgbench, or null if it is not installed. */
export function findPgbench(): string | null {
  const debian = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin')) : []
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...debian]
  return folders.map((folder) => join(folder, 'pgbench')).find((path) => existsSync(path)) ?? null
}

/**
 * Looks up contacts by a prepared statement without Node: the maximum that PostgreSQL can do next to a load generator.
 */
export async function runPgbench(
  pgbench: string,
  { folder, url, organization }: World,
  { connections, seconds }: LoadShape,
): Promise<LoadResult> {
  const script = join(folder, 'pgbench.sql')
  await writeFile(script, scriptFor(organization.id))
  const how = ['-n', '-M', 'prepared', '-f', script, '-j', '1', '-c', String(connections)]
  const time = Math.max(1, Math.round(seconds))
  const { stdout } = await promisify(execFile)(pgbench, [...how, '-T', String(time), url])
  const requests = /transactions actually processed: (\d+)/.exec(stdout)?.[1]
  const rate = /tps = ([\d.]+)/.exec(stdout)?.[1]
  if (requests === undefined || rate === undefined) throw new Error(`unexpected output of pgbench: ${stdout}`)
  return { requests: Number(requests), seconds: Number(requests) / Number(rate), times: [] }
}

function scriptFor(organizationId: string): string {
  return `\\set number random(${numberOf(0)}, ${numberOf(CONTACTS - 1)})
SELECT c.* FROM contact_addresses a
JOIN contacts c ON c.organization_id = a.organization_id AND c.id = a.contact_id
WHERE a.organization_id = '${organizationId}' AND a.address = ANY (ARRAY[:number]::text[])
LIMIT 1;
`
}
