import { describeConfig } from '../config.js'
import { loadSecrets } from '../secrets.js'
import { type Environment, requireConfig } from './environment.js'
import { printRows } from './output.js'

/** `parley config`: the effective settings, secrets masked. */
export async function config(env: Environment, options: { json?: boolean }): Promise<void> {
  const effective = requireConfig(env)
  const loaded = await loadSecrets(effective)
  printRows(describeConfig(effective, loaded.ok ? loaded.secrets : undefined), options)
}
