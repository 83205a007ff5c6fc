import pg from 'pg'

/** Counts the named statements that this process runs during the work, on any connection. */
export async function countStatements(work: () => Promise<unknown>): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const { name } = args[0] as { name?: string }
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1)
    return Reflect.apply(query, this, args)
  } as typeof query
  try {
    await work()
    return counts
  } finally {
    pg.Client.prototype.query = query
  }
}
