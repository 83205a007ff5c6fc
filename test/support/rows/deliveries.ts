import { expect } from 'vitest'
import type { TestOrganization } from '../world.js'
import { readRows, type Tables, type Where } from './read.js'

/** A delivery's row. */
export interface DeliveryRow {
  organization_id: string
  id: string
  webhook_id: string
  event_seq: number
  event_id: string
  event_type: string
  contact_id: string | null
  in_order: boolean
  status: string
  attempts: { at: string; response_status: number | null; error: string | null; response_body: string | null }[]
  next_attempt_at: Date | null
  process_id: number | null
  created_at: Date
}

/** The deliveries of an organization, oldest first. */
export function deliveriesOf(world: Tables, { id }: Pick<TestOrganization, 'id'>): Promise<DeliveryRow[]> {
  return read(world, 'created_at, id', { organization_id: id })
}

/** The deliveries of a webhook in the order of their events. */
export function deliveriesTo(world: Tables, webhook_id: string): Promise<DeliveryRow[]> {
  return read(world, 'event_seq, id', { webhook_id })
}

/** The one delivery of a webhook. */
export async function deliveryTo(world: Tables, webhookId: string): Promise<DeliveryRow> {
  const rows = await deliveriesTo(world, webhookId)
  expect(rows).toHaveLength(1)
  return rows[0] as DeliveryRow
}

const read = (world: Tables, order: string, where: Where<DeliveryRow>) =>
  readRows<DeliveryRow>(world, 'webhook_deliveries', order, where)
