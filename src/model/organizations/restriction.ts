import type { MessageContent } from '../messages/content.js'
import { Problem } from '../problem.js'
import { sentence } from '../sentence.js'

/** What the upstream refuses to send for an account, or from one of its numbers. */
export interface Restriction {
  /** Templates, everything else, or both. */
  of: 'templates' | 'answers' | 'all'
  /** The upstream's word, such as `RESTRICTED_BIZ_INITIATED_MESSAGING`. */
  name: string
  /** ISO 8601; null: until the upstream reports that it is over. */
  until: string | null
}

/** The restrictions that hold at that time. */
export function restrictionsAt(restrictions: readonly Restriction[] | null, at: Date): Restriction[] {
  return (restrictions ?? []).filter(({ until }) => until === null || new Date(until) > at)
}

/** Throws account_restricted if the upstream would refuse this kind of message at that time. */
export function refuseRestricted(...given: Parameters<typeof whyRestricted>): void {
  const problem = whyRestricted(...given)
  if (problem !== null) throw problem
}

/** The problem account_restricted if the upstream would refuse this kind of message at that time, else null. */
export function whyRestricted(
  restrictions: readonly Restriction[] | null,
  type: MessageContent['type'],
  at: Date,
): Problem | null {
  const kind = type === 'template' || type === 'raw_template' ? 'templates' : 'answers'
  const found = restrictionsAt(restrictions, at).find(({ of }) => of === 'all' || of === kind)
  if (!found) return null
  const { name, until } = found
  const text =
    until === null ? sentence('account_restricted', { name }) : sentence('account_restricted_until', { name, until })
  return new Problem('account_restricted', text, { reason: name, ...(until !== null && { until }) })
}
