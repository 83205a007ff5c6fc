import { readdirSync, readFileSync } from 'node:fs'
import type { JsonObject } from '../../src/lib/text/json.js'
import { postBody } from './callbacks.js'
import type { TestOrganization, World } from './world.js'

const FOLDER = new URL('../samples/', import.meta.url)
/** The ids of the business in the samples `doc-*.json`. */
const NUMBER = /"109900000000001"/g
const ACCOUNT = /"209900000000001"/g

/** The body of a sample, by its name without `.json`. */
export function sample(name: string): JsonObject {
  return JSON.parse(readText(name))
}

/** The names of all bodies of callbacks. */
export function callbackSamples(): string[] {
  const names = readdirSync(FOLDER).flatMap((file) => /^((?:doc|wh-openapi)-.*)\.json$/.exec(file)?.[1] ?? [])
  return names.filter((name) => Array.isArray(sample(name).entry))
}

/** A sample `doc-*.json`, by its name without `doc-` and `.json`, as the upstream would post it to the organization. */
export function sampleFor({ phoneNumberId, businessAccountId }: TestOrganization, name: string): string {
  return readText(`doc-${name}`)
    .replace(NUMBER, JSON.stringify(phoneNumberId))
    .replace(ACCOUNT, JSON.stringify(businessAccountId))
}

/** Posts samples to the organization in this order, and processes them. Throws if one is refused. */
export async function receiveSamples(world: World, organization: TestOrganization, ...names: string[]): Promise<void> {
  for (const name of names) {
    const answer = await postBody(world, sampleFor(organization, name), organization.appSecret)
    if (answer.status !== 200) throw new Error(`${name}: ${JSON.stringify(answer.body)}`)
  }
  await world.drain()
}

function readText(name: string): string {
  return readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')
}
