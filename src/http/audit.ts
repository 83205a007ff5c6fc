import type { FastifyRequest } from 'fastify'
import type { Context } from '../context.js'

/** What changes who may do what. */
export type AccessChange =
  | 'member_added'
  | 'role_changed'
  | 'member_removed'
  | 'sign_in_link_made'
  | 'password_changed'
  | 'api_key_issued'
  | 'api_key_rotated'
  | 'api_key_revoked'
  | 'organization_deleted'

/** Writes into the log that access was changed: by which member, or an operator, and whose. Ids alone, nothing secret. */
export function auditAccess(
  { log }: Pick<Context, 'log'>,
  { caller }: FastifyRequest,
  change: AccessChange,
  ids: { organizationId?: string; memberId?: string; keyId?: string; newKeyId?: string; role?: string },
): void {
  const organizationId = ids.organizationId ?? caller?.tenant.id
  log.info({ access: change, by: caller?.memberId ?? 'operator', ...ids, organizationId }, 'access was changed')
}
