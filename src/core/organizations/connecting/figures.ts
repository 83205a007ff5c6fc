import type { Context } from '../../../context.js'
import {
  CONNECTION_REASONS,
  type ConnectionReason,
  type ConnectionStepName,
} from '../../../model/organizations/connection-steps.js'
import { countNumberStates } from '../../../storage/numbers/number-states.js'
import { SOON_MS } from './judge-token.js'

/** The numbers of all organizations, by their last checks. */
export interface NumberFigures {
  states: Record<'ok' | 'warning' | 'failed' | 'unchecked', number>
  /** How many numbers have a problem at each step that has any. */
  problems: Partial<Record<ConnectionStepName, number>>
  /** Access tokens that end within 7 days. */
  expiring: number
  /** Seconds until the next access token ends, below 0 if one has ended; null: none is known to end. */
  nextTokenEnd: number | null
  /** Seconds since the oldest check of the numbers that are ok; null: none is. */
  okAge: number | null
  /** Seconds since the newest valid callback of any number, which is noted once a minute; null: none has come. */
  callbackAge: number | null
}

/** Counts the numbers of all organizations. */
export async function findNumberFigures({
  database,
  clock,
}: Pick<Context, 'database' | 'clock'>): Promise<NumberFigures> {
  const now = clock()
  const rows = await countNumberStates(database, { now, expireBefore: new Date(now.getTime() + SOON_MS) })
  const states = { ok: 0, warning: 0, failed: 0, unchecked: 0 }
  const figures: NumberFigures = {
    states,
    problems: {},
    expiring: 0,
    nextTokenEnd: null,
    okAge: null,
    callbackAge: null,
  }
  for (const { kind, name, count } of rows) {
    if (kind === 'expiring') figures.expiring = count
    else if (kind === 'next_end') figures.nextTokenEnd = count
    else if (kind === 'ok_age') figures.okAge = count
    else if (kind === 'callback_age') figures.callbackAge = count
    else if (kind === 'state') figures.states[name as keyof NumberFigures['states']] = count
    else if (Object.hasOwn(CONNECTION_REASONS, name)) {
      const { step } = CONNECTION_REASONS[name as ConnectionReason]
      figures.problems[step] = (figures.problems[step] ?? 0) + count
    }
  }
  return figures
}
