import { readFileSync } from 'node:fs'
import { postBody } from './callbacks.js'
import type { TestOrganization, World } from './world.js'

/** The ids of the business in the samples `doc-*.json`. */
const NUMBER = /"109900000000001"/g
const ACCOUNT = /"209900000000001"/g

/** A sample of test/samples, by its name without `doc-` and `.json`, as the upstream would post it to the organization. */
export function sample(name: string, { phoneNumberId, businessAccountId }: TestOrganization): string {
  return readFileSync(new URL(`../samples/doc-${name}.json`, import.meta.url), 'utf8')
    .replace(NUMBER, JSON.stringify(phoneNumberId))
    .replace(ACCOUNT, JSON.stringify(businessAccountId))
}

/** Posts samples to the organization in this order, and processes them. Throws if one is refused. */
export async function receiveSamples(world: World, organization: TestOrganization, ...names: string[]): Promise<void> {
  for (const name of names) {
    const answer = await postBody(world, sample(name, organization), organization.appSecret)
    if (answer.status !== 200) throw new Error(`${name}: ${JSON.stringify(answer.body)}`)
  }
  await world.drain()
}
