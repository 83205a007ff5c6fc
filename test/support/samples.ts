import { readdirSync, readFileSync } from 'node:fs'
import type { JsonObject } from '../../src/lib/text/json.js'

const FOLDER = new URL('../samples/', import.meta.url)

/** The body of a sample, by its name without `.json`. */
export function sample(name: string): JsonObject {
  return JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8'))
}

/** The names of all bodies of callbacks. */
export function callbackSamples(): string[] {
  const names = readdirSync(FOLDER).flatMap((file) => /^((?:doc|wh-openapi)-.*)\.json$/.exec(file)?.[1] ?? [])
  return names.filter((name) => Array.isArray(sample(name).entry))
}
