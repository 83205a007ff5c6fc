import { unpackBody } from '../../../src/storage/organizations/callback-bodies.js'
import { readRows, type Tables, type Where } from './read.js'

/** A callback's row. */
export interface CallbackRow {
  organization_id: string
  id: string
  instance_id: string | null
  /** As it came. */
  body: Buffer
  /** It is not processed yet. */
  waiting: boolean
}

/** The callbacks with these values, oldest first. */
export async function callbackRows(world: Tables, where: Where<CallbackRow> = {}): Promise<CallbackRow[]> {
  const rows = await readRows<CallbackRow>(world, 'callbacks', 'id', where)
  return rows.map((row) => ({ ...row, body: unpackBody(row.body) }))
}
