import { Readable } from 'node:stream'

/**
 * A stream of parts for an answer. The first part is there already: what goes wrong before it is thrown here, and can be answered;
 * what goes wrong later cuts the connection, so that nobody takes the document for whole.
 */
export async function startStream(parts: AsyncGenerator<string>): Promise<Readable> {
  const first = await parts.next()
  return Readable.from(resume(first, parts), { objectMode: false })
}

async function* resume(first: IteratorResult<string>, parts: AsyncGenerator<string>): AsyncGenerator<string> {
  if (first.done) return
  yield first.value
  yield* parts
}
