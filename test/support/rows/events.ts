import type { TestOrganization } from '../world.js'
import { readRows, type Tables, type Where } from './read.js'

/** An event's row. */
export interface EventRow {
  organization_id: string
  seq: number
  id: string
  type: string
  contact_id: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape
  data: any
}

/** The organization's events in order; with a type, only those. */
export function eventsOf(world: Tables, { id }: Pick<TestOrganization, 'id'>, type?: string): Promise<EventRow[]> {
  return read(world, 'transaction_id, id', { organization_id: id, ...(type !== undefined && { type }) })
}

/** The events of a contact, oldest first. */
export function eventsOfContact(world: Tables, contact_id: string): Promise<EventRow[]> {
  return read(world, 'seq', { contact_id })
}

const read = (world: Tables, order: string, where: Where<EventRow>) => readRows<EventRow>(world, 'events', order, where)
