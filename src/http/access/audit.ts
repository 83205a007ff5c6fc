import type { FastifyRequest } from 'fastify'
import type { Context } from '../../context.js'

/** A change of access rights, or of what may be deleted. */
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
  | 'legal_hold_set'
  | 'legal_hold_released'

/**
 * Logs a change of access: its author (a member or an operator) and the member or key affected. Ids only, no secrets.
 */
export function auditAccess(
  { log }: Pick<Context, 'log'>,
  { caller }: FastifyRequest,
  change: AccessChange,
  ids: {
    organizationId?: string
    memberId?: string
    keyId?: string
    newKeyId?: string
    role?: string
    holder?: string
  },
): void {
  const organizationId = ids.organizationId ?? caller?.tenant.id
  log.info({ access: change, by: caller?.memberId ?? 'operator', ...ids, organizationId }, 'access was changed')
}
