import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config/settings.js'
import { asText } from '../lib/text/json.js'
import { readDataFile, writeDataFile } from './data-file.js'

/** Settings of `up` by variable; none is secret. */
export type UpSettings = Record<string, string>

/** The defaults of `up`: the sandbox, and the files and shops of this machine. */
export const UP_DEFAULTS: UpSettings = {
  PARLEY_UPSTREAM_URL: 'sandbox',
  PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.0/8,::1',
}

const NAME = 'up.json'
const VARIABLES = [...Object.keys(UP_DEFAULTS), 'PARLEY_HOST', 'PARLEY_PORT', 'PARLEY_PUBLIC_URL']

/**
 * Stores the settings of `up` in the data folder, where commands in another shell find them; `url` is its address, and
 * `upstreamUrl` the upstream's for commands. With an external database nothing is stored, since a command may use
 * another one.
 */
export async function keepUpSettings(config: Config, url: string, upstreamUrl: string): Promise<void> {
  const { dataDir, databaseUrl, host, allowedPrivateHosts, publicUrl } = config
  if (databaseUrl !== undefined) return dropUpSettings(config)
  await writeDataFile(dataDir, NAME, {
    PARLEY_UPSTREAM_URL: upstreamUrl,
    PARLEY_ALLOWED_PRIVATE_HOSTS: allowedPrivateHosts.join(','),
    PARLEY_HOST: host,
    PARLEY_PORT: new URL(url).port,
    PARLEY_PUBLIC_URL: publicUrl ?? url,
  })
}

/** The settings of the last `up`; empty if the database is not in the data folder. */
export async function readUpSettings({ dataDir, databaseUrl }: Config): Promise<UpSettings> {
  if (databaseUrl !== undefined) return {}
  const kept = await readDataFile(dataDir, NAME)
  return Object.fromEntries(VARIABLES.map((name) => [name, asText(kept[name]) ?? '']))
}

/** Removes them: the service on this data folder is no `up` from now on. */
export async function dropUpSettings({ dataDir }: Config): Promise<void> {
  await rm(join(dataDir, NAME), { force: true })
}
