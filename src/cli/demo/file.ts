import { asText } from '../../lib/text/json.js'
import { readDataFile, writeDataFile } from '../data-file.js'

/** What is kept of the demo from one start to the next. */
export interface DemoRecord {
  organization_id: string
  /** The demo's API key: the service itself keeps only its hash. */
  api_key: string
  /** True once contacts and conversation are made: from then on they are the user's. */
  finished: boolean
  /** Where the service of the last start listens; null in records of earlier versions. */
  url: string | null
}

const NAME = 'demo.json'

/** Reads what the data folder keeps of the demo; null when that is nothing of use. */
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
