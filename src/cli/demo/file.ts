import { asText } from '../../lib/text/json.js'
import { readDataFile, writeDataFile } from '../data-file.js'

/** What is stored of the demo between starts. */
export interface DemoRecord {
  organization_id: string
  /** The demo's API key; the database has only its hash. */
  api_key: string
  /** True once contacts and conversation exist; from then on they are the user's. */
  finished: boolean
  /** The address of the last service; null until its first start has ended. */
  url: string | null
}

const NAME = 'demo.json'

/** Reads the demo's record; null if it is missing or unusable. */
export async function readDemoRecord(dataDir: string): Promise<DemoRecord | null> {
  const content = await readDataFile(dataDir, NAME)
  const organization_id = asText(content.organization_id)
  const api_key = asText(content.api_key)
  if (organization_id === null || api_key === null) return null
  return { organization_id, api_key, finished: content.finished === true, url: asText(content.url) }
}

/** Keeps the record in the data folder. */
export async function writeDemoRecord(dataDir: string, record: DemoRecord): Promise<void> {
  await writeDataFile(dataDir, NAME, record)
}
