import type pg from 'pg'

// COPY in PostgreSQL's text format: a row is a line, its columns are separated by tabs. The driver passes the messages of
// the protocol to whatever was submitted as a query; it has no COPY of its own.

/** The part of the driver's connection that COPY uses. */
type Wire = pg.Connection & {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(why: string): void
}

/** What the driver calls of a query. */
interface Submitted {
  submit(wire: pg.Connection): void
  handleError(error: Error): void
  handleReadyForQuery(): void
  handleCommandComplete(): void
  handleRowDescription(): void
  handleDataRow(): void
  handlePortalSuspended(): void
  handleEmptyQuery(): void
  handleCopyData(message: { chunk: Buffer }, wire: Wire): void
  handleCopyInResponse(wire: Wire): void
}

function submit(client: pg.ClientBase, text: string, handle: Partial<Submitted>): Promise<void> {
  return new Promise((resolve, reject) => {
    const nothing = () => undefined
    let failure: Error | null = null
    const submitted: Submitted = {
      submit: (wire) => wire.query(text),
      handleError: (error) => {
        failure ??= error
        reject(failure)
      },
      handleReadyForQuery: () => (failure === null ? resolve() : reject(failure)),
      handleCommandComplete: nothing,
      handleRowDescription: nothing,
      handleDataRow: nothing,
      handlePortalSuspended: nothing,
      handleEmptyQuery: nothing,
      handleCopyData: nothing,
      handleCopyInResponse: (wire) => wire.sendCopyFail('no rows were given'),
      ...handle,
    }
    client.query(submitted)
  })
}

/**
 * Runs `COPY … TO STDOUT` and passes the rows on in pieces of whole lines, each of about `bytes`. While a piece is taken,
 * no more is read than the server has sent. Resolves to the number of rows.
 */
export async function copyOut(
  client: pg.ClientBase,
  text: string,
  bytes: number,
  take: (piece: Buffer) => Promise<void>,
): Promise<number> {
  let lines: Buffer[] = []
  let size = 0
  let rows = 0
  let taking: Promise<void> = Promise.resolve()
  let failure: { error: unknown } | null = null
  const pass = () => {
    const piece = Buffer.concat(lines, size)
    lines = []
    size = 0
    taking = taking
      .then(() => (failure === null ? take(piece) : undefined))
      .catch((error: unknown) => {
        failure ??= { error }
      })
  }
  await submit(client, text, {
    handleCopyData: ({ chunk }, wire) => {
      rows++
      // The driver uses the memory again.
      lines.push(Buffer.from(chunk))
      size += chunk.length
      if (size < bytes) return
      wire.stream.pause()
      pass()
      taking.then(() => wire.stream.resume())
    },
  })
  if (size > 0) pass()
  await taking
  if (failure !== null) throw (failure as { error: unknown }).error
  return rows
}

/** Runs `COPY … FROM STDIN` with these lines. */
export function copyIn(client: pg.ClientBase, text: string, lines: Buffer): Promise<void> {
  return submit(client, text, {
    handleCopyInResponse: (wire) => {
      wire.sendCopyFromChunk(lines)
      wire.endCopyFrom()
    },
  })
}
