import pg from 'pg'

/** The texts of the prepared statements that this process runs during the work, on any connection. */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const texts: string[] = []
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const { name, text } = args[0] as { name?: string; text: string }
    if (name !== undefined) texts.push(text)
    return Reflect.apply(query, this, args)
  } as typeof query
  try {
    await work()
    return texts
  } finally {
    pg.Client.prototype.query = query
  }
}
