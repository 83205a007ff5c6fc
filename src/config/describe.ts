import { type Config, settings, type VariableName, variableNames } from './settings.js'

/** One setting as `parley config` prints it; `value` never holds a secret. */
export interface ConfigRow {
  name: VariableName
  value: string
  /** `up`: set by the last `parley up` in the data folder. */
  source: 'default' | 'environment' | 'generated' | 'up'
}

/**
 * The effective settings, one row per variable, with secrets masked. Without `secrets`, generated ones show as not
 * loaded.
 */
export function describeConfig(config: Config, secrets?: { adminToken: string; masterKeys: string[] }): ConfigRow[] {
  const effective = { ...config, ...secrets }
  return variableNames.map((name) => ({ name, value: settings[name].show(effective), source: sourceOf(config, name) }))
}

function sourceOf(config: Config, name: VariableName): ConfigRow['source'] {
  if (config.fromEnvironment.has(name)) return 'environment'
  if (config.fromUp.has(name)) return 'up'
  return name === 'PARLEY_ADMIN_TOKEN' || name === 'PARLEY_SECRET' ? 'generated' : 'default'
}
