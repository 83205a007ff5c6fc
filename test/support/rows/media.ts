import type { TestOrganization } from '../world.js'
import type { Tables } from './read.js'

/** The rows of all files, or of those of an organization. */
export async function mediaRows({ database }: Tables, organization?: Pick<TestOrganization, 'id'>) {
  const { rows } = await database.pool.query(
    `SELECT organization_id, id, mime_type, size, filename, message_id FROM media
     WHERE $1::uuid IS NULL OR organization_id = $1 ORDER BY organization_id, id`,
    [organization?.id ?? null],
  )
  return rows
}
