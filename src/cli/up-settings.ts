import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.js'
import { asText } from '../lib/text/json.js'
import { readDataFile, writeDataFile } from './data-file.js'

/** Settings of an `up` by their variables, none of them secret. */
export type UpSettings = Record<string, string>

/** What `up` runs with where the environment says nothing else: the sandbox, and the files and shops of this machine. */
export const UP_DEFAULTS: UpSettings = {
  PARLEY_UPSTREAM_URL: 'sandbox',
  PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.0/8,::1',
}

const NAME = 'up.json'
const VARIABLES = [...Object.keys(UP_DEFAULTS), 'PARLEY_HOST', 'PARLEY_PORT', 'PARLEY_PUBLIC_URL']

/**
 * Keeps in the data folder what an `up` runs with, so that commands in another shell find it; `url` is where it listens. With a
 * database of its own nothing is kept: a command may name another one.
 */
export async function keepUpSettings(config: Config, url: string): Promise<void> {
  const { dataDir, databaseUrl, host, upstreamUrl, allowedPrivateHosts, publicUrl } = config
  if (databaseUrl !== undefined) return dropUpSettings(config)
  await writeDataFile(dataDir, NAME, {
    PARLEY_UPSTREAM_URL: upstreamUrl,
    PARLEY_ALLOWED_PRIVATE_HOSTS: allowedPrivateHosts.join(','),
    PARLEY_HOST: host,
    PARLEY_PORT: new URL(url).port,
    PARLEY_PUBLIC_URL: publicUrl ?? url,
  })
}

/** Reads what the last `up` in the data folder ran with; empty where the database is not the one in there. */
export async function readUpSettings({ dataDir, databaseUrl }: Config): Promise<UpSettings> {
  if (databaseUrl !== undefined) return {}
  const kept = await readDataFile(dataDir, NAME)
  return Object.fromEntries(VARIABLES.map((name) => [name, asText(kept[name]) ?? '']))
}

/** Removes it: what runs on this data folder from now on is no `up`. */
export async function dropUpSettings({ dataDir }: Config): Promise<void> {
  await rm(join(dataDir, NAME), { force: true })
}
