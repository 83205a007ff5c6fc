import type { FastifyRequest } from 'fastify'
import { type JsonLimits, parseJsonInSteps } from '../lib/text/json-steps.js'
import { MEBIBYTE } from '../lib/text/units.js'
import { markWalked, tooDeep } from '../model/input.js'
import { Problem } from '../model/problem.js'

const LIMITS: JsonLimits = { maxDepth: 64, maxFields: 100_000, maxEscaped: MEBIBYTE }
const OBJECT = /^\s*\{/
/** Reading smaller texts takes a few milliseconds, regardless of their content. */
const SMALL_LENGTH = 65_536

/** Whether the body of a request should be handled in steps, between which other requests are handled. */
export function isLargeBody({ headers }: FastifyRequest): boolean {
  return !(Number(headers['content-length']) <= SMALL_LENGTH)
}

/**
 * Parses a JSON body, a large one in steps; undefined for an empty one, which many clients send. Throws invalid_json,
 * payload_too_large, and invalid_field if it nests too deep. `isDescribed`: the endpoint has a schema of its body.
 */
export function readJsonBody(text: string, isDescribed = true): unknown {
  if (text === '') return undefined
  if (text.length > SMALL_LENGTH) return readLargeJson(text, isDescribed)
  try {
    return notNull(JSON.parse(text))
  } catch (error) {
    throw error instanceof Problem ? error : malformed((error as Error).message)
  }
}

async function readLargeJson(text: string, isDescribed: boolean): Promise<unknown> {
  const read = await parseJsonInSteps(text, LIMITS)
  switch (read.outcome) {
    case 'read':
      markWalked(read.value, read)
      return notNull(read.value)
    case 'malformed':
      throw malformed(read.text)
    case 'too_large':
      throw tooLarge(read.limit, isDescribed && OBJECT.test(text))
  }
}

/** Null stands for no body from here on. */
function notNull(value: unknown): unknown {
  if (value !== null) return value
  throw new Problem('invalid_json', 'The request body must be a JSON object, not null')
}

function malformed(text: string): Problem {
  return new Problem('invalid_json', `The request body is not JSON: ${text}`)
}

function tooLarge(limit: keyof JsonLimits, isDescribed: boolean): Problem {
  const max = LIMITS[limit]
  if (limit === 'maxDepth' && isDescribed) return tooDeep('The request body')
  if (limit === 'maxDepth') return new Problem('invalid_json', `The request body nests deeper than ${max} levels`)
  const what =
    limit === 'maxFields'
      ? `an object of more than ${max} fields`
      : `a text with escapes of more than ${max} characters`
  return new Problem('payload_too_large', `The request body has ${what}`)
}
