import type { Context } from '../../../context.js'
import type { ConnectionReason, StepFinding } from '../../../model/organizations/connection-steps.js'
import type { BusinessNumber } from '../../../upstream/client.js'
import type { NotAsked, Refused } from '../../../upstream/connecting/ask.js'

/** What the calls of connecting need. */
export interface Asking {
  upstream: Context['upstream']
  /** The longest time that the next call may take, in ms; 0: none is left. */
  callMs: () => number
}

/** The credentials and ids of a number whose connection is read or made. */
export interface NumberCredentials extends BusinessNumber {
  businessAccountId: string
  appSecret: string
  appId: string
}

type Values = Record<string, string | number>

/** A finding with values of its texts. */
export function found(reason: ConnectionReason, values: Values = {}): StepFinding {
  return { reason, values }
}

/** A finding about a call that was refused or not answered; the values of its texts get the upstream's `text`. */
export function foundError(reason: ConnectionReason, error: Refused | NotAsked, values: Values = {}): StepFinding {
  const subcode = error.outcome === 'refused' ? error.subcode : 0
  return {
    reason,
    values: { ...values, text: error.text },
    ...(error.code === undefined ? {} : { upstreamCode: error.code }),
    ...(subcode === 0 ? {} : { upstreamSubcode: subcode }),
  }
}

/** The finding without these secrets, which the upstream's text of an error may repeat. */
export function withoutSecrets(finding: StepFinding, secrets: readonly (string | undefined)[]): StepFinding {
  const { text } = finding.values ?? {}
  if (typeof text !== 'string') return finding
  const shown = secrets.reduce<string>((left, secret) => (secret ? left.replaceAll(secret, '…') : left), text)
  return { ...finding, values: { ...finding.values, text: shown } }
}
