import { type Answer, untilTrue } from './stage.js'

/** Requests that are repeated until `end`. */
export interface Requests {
  /** The number of requests without an answer yet. */
  readonly inFlight: number
  /** How many were answered, by status. */
  readonly answers: ReadonlyMap<number, number>
  /** Resolves when this number has been answered. */
  untilAnswered(count: number): Promise<void>
  /** Starts no further requests, and resolves when all are answered. Throws if an answer was not expected. */
  end(): Promise<void>
}

/** Statuses that ask the client to come back later. */
const LATER = [429, 503]

/**
 * Keeps `width` requests in flight. The given statuses are expected, and those of LATER with a Retry-After. A request
 * without an answer is not.
 */
export function keepAsking(width: number, expected: readonly number[], askOnce: () => Promise<Answer>): Requests {
  const answers = new Map<number, number>()
  let inFlight = 0
  let isOver = false
  let failure: unknown = null
  const loop = async () => {
    while (!isOver && failure === null) {
      inFlight += 1
      try {
        const answer = await askOnce()
        check(answer, expected)
        answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1)
      } catch (error) {
        failure ??= error
      } finally {
        inFlight -= 1
      }
    }
  }
  const loops = Promise.all(Array.from({ length: width }, loop))
  const throwFailure = () => {
    if (failure !== null) throw failure
  }
  return {
    get inFlight() {
      return inFlight
    },
    answers,
    untilAnswered: (count) =>
      untilTrue(`fewer than ${count} requests were answered`, async () => {
        throwFailure()
        return [...answers.values()].reduce((sum, one) => sum + one, 0) >= count
      }),
    end: async () => {
      isOver = true
      await loops
      throwFailure()
    },
  }
}

/** Makes one request for each item, `width` of them at a time. The answers are checked as those of keepAsking. */
export async function askForEach<Item>(
  items: readonly Item[],
  width: number,
  expected: readonly number[],
  askOnce: (item: Item) => Promise<Answer>,
): Promise<void> {
  const left = items.values()
  const loop = async () => {
    for (const item of left) check(await askOnce(item), expected)
  }
  await Promise.all(Array.from({ length: width }, loop))
}

function check({ status, headers, body }: Answer, expected: readonly number[]): void {
  if (expected.includes(status)) return
  const text = `a request was answered ${status}: ${JSON.stringify(body).slice(0, 500)}`
  if (!LATER.includes(status)) throw new Error(text)
  if (!(Number(headers.get('retry-after')) >= 1)) throw new Error(`without Retry-After ${text}`)
}
