import { type Answer, untilTrue } from './stage.js'

/** Requests that are repeated until they are ended. */
export interface Requests {
  /** How many have no answer yet. */
  readonly underWay: number
  /** How many were answered, by status. */
  readonly answers: ReadonlyMap<number, number>
  /** Resolves when this number has been answered. */
  untilAnswered(count: number): Promise<void>
  /** Starts no further ones, and resolves when all are answered. Throws the first answer that was not expected. */
  end(): Promise<void>
}

/** Statuses that ask the client to come back later. */
const LATER = [429, 503]

/**
 * Keeps `width` requests under way. Only the given statuses are expected, and LATER, which must come with Retry-After;
 * a request without an answer is not.
 */
export function keepAsking(width: number, expected: readonly number[], askOnce: () => Promise<Answer>): Requests {
  const answers = new Map<number, number>()
  let underWay = 0
  let isOver = false
  let failure: unknown = null
  const loop = async () => {
    while (!isOver && failure === null) {
      underWay += 1
      try {
        const answer = await askOnce()
        check(answer, expected)
        answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1)
      } catch (error) {
        failure ??= error
      } finally {
        underWay -= 1
      }
    }
  }
  const loops = Promise.all(Array.from({ length: width }, loop))
  const throwFailure = () => {
    if (failure !== null) throw failure
  }
  return {
    get underWay() {
      return underWay
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
