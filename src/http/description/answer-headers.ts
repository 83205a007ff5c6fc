import { type Document, operationsOf, type Response } from './document.js'

/** The headers of answers, by the names under which the components hold them. */
const HEADERS = {
  'X-Request-Id': {
    description: 'The id of the request: the one that it brought, or a new one. The log names the request by it.',
    schema: { type: 'string' },
  },
  'RateLimit-Limit': {
    description: 'How many requests the key may make at once. Absent if there is no limit.',
    schema: { type: 'integer' },
  },
  'RateLimit-Remaining': {
    description: 'How many of them are left. Absent if there is no limit.',
    schema: { type: 'integer' },
  },
  'RateLimit-Reset': {
    description: 'After how many seconds all of them are available again. Absent if there is no limit.',
    schema: { type: 'integer' },
  },
  'Retry-After': {
    description: 'After how many seconds to try again. Absent if waiting does not help.',
    schema: { type: 'integer' },
  },
  'Idempotent-Replayed': {
    description: 'Present if this is the kept answer of an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
  'Content-Disposition': {
    description: 'The name of the file.',
    schema: { type: 'string' },
  },
}

type HeaderName = keyof typeof HEADERS

/** The statuses of refusals that may pass with time. */
const PASSING = ['409', '429', '500', '503']

/** Describes the headers of each answer; `limited` says whether the requests of the interface are counted. */
export function addAnswerHeaders(document: Document, limited: boolean): void {
  const used = new Set<HeaderName>()
  for (const { parameters = [], responses } of operationsOf({ paths: document.paths })) {
    const isRepeatable = parameters.some(({ name }) => name === 'Idempotency-Key')
    for (const [status, response] of Object.entries(responses)) {
      const names = namesOf(status, response, { isRepeatable, limited })
      for (const name of names) used.add(name)
      response.headers = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
    }
  }
  document.components.headers = Object.fromEntries([...used].map((name) => [name, HEADERS[name]]))
}

function namesOf(
  status: string,
  { content }: Response,
  { isRepeatable, limited }: { isRepeatable: boolean; limited: boolean },
): HeaderName[] {
  const isSuccess = status.startsWith('2')
  const names: HeaderName[] = ['X-Request-Id']
  if (limited && (isSuccess || status === '429')) {
    names.push('RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset')
  }
  if (PASSING.includes(status)) names.push('Retry-After')
  if (isRepeatable && (isSuccess || status === '400' || status === '500')) names.push('Idempotent-Replayed')
  if (isSuccess && content?.['text/csv'] !== undefined) names.push('Content-Disposition')
  return names
}
