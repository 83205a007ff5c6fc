import { Readable } from 'node:stream'

/**
 * A stream of parts for a response. Errors before the first part are thrown and can be answered; later ones cut the
 * connection, so that the client does not take the document for complete.
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
