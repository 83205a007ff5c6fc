import { readRows, type Tables, type Where } from './read.js'

/** A callback's row. */
export interface CallbackRow {
  organization_id: string
  id: string
  instance_id: string | null
  body: Buffer
  /** It is not processed yet. */
  waiting: boolean
}

/** The callbacks with these values, oldest first. */
export function callbackRows(world: Tables, where: Where<CallbackRow> = {}): Promise<CallbackRow[]> {
  return readRows<CallbackRow>(world, 'callbacks', 'id', where)
}
