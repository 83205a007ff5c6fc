import { packageVersion } from '../lib/files/package-version.js'
import { nearestWord } from '../lib/text/nearest-word.js'
import { contradiction } from './checks.js'
import { assembleConfig, type Config, settings, type ValueOf, type VariableName, variableNames } from './settings.js'
import { MASK, maskPassword, type Parsed } from './values.js'

const PREFIX = 'PARLEY_'
/** Variables of the test suite, which reach the processes that it starts, and names that bots and scripts use. */
const notOurs = /^PARLEY_(TEST_.*|KEY|TOKEN|URL|BASE_URL|API_(KEY|TOKEN|URL)|GATEWAY_URL|WEBHOOK_(SECRET|URL)|ORG.*)$/

/**
 * Reads and validates the settings. Empty variables count as unset; `up` has their values in place of defaults. The
 * problem is one line with the variable, its value (masked if secret) and the expected form.
 */
export function readConfig(
  env: Record<string, string | undefined>,
  up: Record<string, string> = {},
): { ok: true; config: Config } | { ok: false; problem: string } {
  const fromEnvironment = givenVariables(env)
  const given = new Map([...givenVariables(up), ...fromEnvironment])
  const problems = [...unknownVariables(given)]

  function read<Name extends VariableName>(name: Name): ValueOf<Name> {
    const { parse, byDefault }: { parse: (text: string) => Parsed<ValueOf<Name>>; byDefault: ValueOf<Name> } =
      settings[name]
    const text = given.get(name)
    if (text === undefined) return byDefault
    const parsed = parse(text)
    if (parsed.ok) return parsed.value
    problems.push(`${name}=${shown(name, text)}: expected ${parsed.expected}`)
    return byDefault
  }

  const config: Config = {
    ...assembleConfig(read),
    fromEnvironment: new Set(variableNames.filter((name) => fromEnvironment.has(name))),
    fromUp: new Set(variableNames.filter((name) => given.has(name) && !fromEnvironment.has(name))),
  }
  const problem = problems[0] ?? contradiction(config)
  return problem === undefined ? { ok: true, config } : { ok: false, problem }
}

function givenVariables(env: Record<string, string | undefined>): Map<string, string> {
  const given = new Map<string, string>()
  for (const [name, value] of Object.entries(env)) {
    const text = value?.trim()
    if (text && name.startsWith(PREFIX)) given.set(name, text)
  }
  return given
}

/** Misspelt names, which would silently leave the default in force. A name that is like no other is not meant for us. */
function unknownVariables(given: Map<string, string>): string[] {
  const known: readonly string[] = variableNames
  const settingNames = variableNames.map((name) => name.slice(PREFIX.length))
  return [...given.keys()].flatMap((name) => {
    if (known.includes(name) || notOurs.test(name)) return []
    const meant = nearestWord(name.slice(PREFIX.length), settingNames)
    if (meant === null) return []
    const version = packageVersion.replace(/\.\d+$/, '')
    return [
      `${name} is not a setting of Parley ${version}: did you mean ${PREFIX}${meant}? If you came back from a newer version, remove it from the environment, such as /etc/parley/parley.env`,
    ]
  })
}

function shown(name: VariableName, text: string): string {
  if (settings[name].isSecret) return MASK
  // A text that is not a URL may contain its password anywhere.
  if ((name === 'PARLEY_DATABASE_URL' || name === 'PARLEY_REPLICA_URL') && !text.includes('//')) return MASK
  return JSON.stringify(maskPassword(text))
}
