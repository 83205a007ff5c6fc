import type { Queryable } from '../../database/pool.js'
import { sharedStatement } from '../../database/statement.js'

/** How many values of a table are looked at. */
const LOOKED_AT = 1_000

// The bytes 2 to 5 of an encrypted value name its key (lib/crypto/secret-box).
const list = sharedStatement<{ value: Buffer }>(
  'encryptedSamples.list',
  `SELECT DISTINCT ON (substr(stored.value, 2, 4)) stored.value
   FROM (
     (SELECT access_token AS value FROM upstream_settings LIMIT ${LOOKED_AT})
     UNION ALL
     (SELECT token FROM instances LIMIT ${LOOKED_AT})
     UNION ALL
     (SELECT secret FROM webhooks LIMIT ${LOOKED_AT})
   ) stored`,
)

/** One stored credential for each key that encrypted some, of all organizations. */
export async function listEncryptedSamples(db: Queryable): Promise<Buffer[]> {
  return (await db.run(list, [])).map(({ value }) => value)
}
