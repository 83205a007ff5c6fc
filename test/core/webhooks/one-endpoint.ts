import { afterEach, beforeEach, expect } from 'vitest'
import { createContact } from '../../support/contacts.js'
import { deliveriesTo } from '../../support/rows/deliveries.js'
import { closeEndpoints, type Endpoint, expectNothingStuck, startEndpoint } from '../../support/webhook-endpoints.js'
import { type TestOrganization, useWorld, type World } from '../../support/world.js'

export let world: World
/** The organization of the test. */
export let organization: TestOrganization
/** Its webhook. */
export let endpoint: Endpoint
let people = 0

/**
 * Starts a world for the tests of this file, and for each of them an organization with a webhook for these events. After
 * each, no delivery may be stuck.
 */
export function useEndpoint(events: readonly string[] = ['*']): void {
  world = useWorld()

  beforeEach(async () => {
    organization = await world.createOrganization()
    endpoint = await startEndpoint(world, organization, events)
  })

  afterEach(async () => {
    await closeEndpoints()
    await expectNothingStuck(world)
  })
}

/** The digits of a number that no contact has. */
export function newNumber(): string {
  return `1650555${1_000 + ++people}`
}

/** Creates a contact of the organization, named Ana; resolves to its id. */
export function newContact(digits = newNumber()): Promise<string> {
  return createContact(world, organization, `+${digits}`, { full_name: 'Ana' })
}

/** The statuses of the deliveries to the endpoint, in the order of their events. */
export async function statuses(): Promise<string[]> {
  return (await deliveriesTo(world, endpoint.id)).map(({ status }) => status)
}

/** The webhook of the endpoint, as the API shows it. */
export async function webhook() {
  const { body } = await world.request('GET', '/get-webhooks', { key: organization.key })
  return body.webhooks.find(({ id }: { id: string }) => id === endpoint.id)
}

/** Enables the webhook of the endpoint. */
export async function enable(): Promise<void> {
  const path = `/set-webhooks/${endpoint.id}/enable`
  expect((await world.request('POST', path, { key: organization.key })).status).toBe(200)
}
