import { findNumberFigures } from '../../core/organizations/connecting/figures.js'
import type { Database } from '../../database/pool.js'
import { type ConnectionStepName, presentStep } from '../../model/organizations/connection-steps.js'
import { presentNumberState, type ShownNumberState } from '../../model/organizations/number-state.js'
import { type BadNumber, findLastSendOf, listBadNumbers } from '../../storage/numbers/number-states.js'
import { type Check, type Finding, failed, ok, warning } from './check.js'

const MAX_NUMBERS = 20

/** The check of what the service's own checks of numbers have found last: a finding for each number that is not ok. */
export function numberChecks(database: Database): Check[] {
  return [{ name: 'numbers', remedy: 'run parley migrate, and see the log', run: () => checkNumbers(database) }]
}

async function checkNumbers(database: Database): Promise<Finding[]> {
  const [bad, { states, okAge, callbackAge }] = await Promise.all([
    listBadNumbers(database, MAX_NUMBERS),
    findNumberFigures({ database, clock: () => new Date() }),
  ])
  const findings: Finding[] = []
  for (const number of bad) {
    const { organization_id, instance_id } = number
    findings.push(describe(number, await findLastSendOf(database, organization_id, instance_id, null)))
  }
  const more = states.failed + states.warning - bad.length
  if (more > 0) findings.push(warning(`${more} more have a problem`, 'mend these first'))
  const unchecked = states.unchecked === 0 ? '' : `, ${states.unchecked} not checked yet`
  const checked = okAge === null ? '' : ` (oldest check ${minutes(okAge)} ago)`
  const called = callbackAge === null ? '' : `; the last callback of any number came ${minutes(callbackAge)} ago`
  return [...findings, ok(`${states.ok} are well${checked}${unchecked}${called}`)]
}

function minutes(seconds: number): string {
  return `${Math.floor(Math.max(0, seconds) / 60)} min`
}

/** A number with its problems, and what else is known about it. */
function describe(number: BadNumber, lastSendAt: Date | null): Finding {
  const shown = presentNumberState(number)
  const problems = number.steps.map(presentStep).filter(({ state }) => state !== 'ok')
  const name = `${number.slug}, ${shown.display_phone_number ?? number.phone_number_id}`
  const facts = [
    `token valid until ${tokenEnd(shown)}`,
    `app subscribed: ${wordOf(shown, 'subscribed')}`,
    `callback address as it should be: ${wordOf(shown, 'callbacks')}`,
    `last callback ${shown.last_callback_at ?? 'never'}`,
    `last send ${lastSendAt?.toISOString() ?? 'never'}`,
    `health ${shown.can_send ?? 'not known'}`,
    `checked ${shown.checked_at ?? 'never'}`,
  ]
  const found = `${name}: ${problems.map(({ sentence }) => sentence).join('; ')} (${facts.join(', ')})`
  const advice = problems.flatMap(({ remedy, docs }) => (remedy === null ? [] : `${remedy} (${docs})`)).join('; ')
  const remedy = `${advice === '' ? '' : `${advice}; `}parley org connect ${number.slug} goes through all steps`
  return number.state === 'failed' ? failed(found, remedy) : warning(found, remedy)
}

/** The reasons of a token whose end is known to be none. */
const LASTING = ['token_lasting', 'token_of_person', 'data_access_ending']

function tokenEnd({ token_expires_at, steps }: ShownNumberState): string {
  if (token_expires_at !== null) return token_expires_at
  return steps.some(({ reason }) => LASTING.includes(reason)) ? 'it is revoked' : '(not known)'
}

/** Whether a step is as it should be; not known if the last check did not come so far. */
function wordOf({ steps }: ShownNumberState, step: ConnectionStepName): string {
  const found = steps.filter((one) => one.step === step)
  if (found.length === 0) return 'not known'
  return found.every(({ state }) => state === 'ok') ? 'yes' : 'no'
}
