import type { Context } from '../../context.js'
import { batch } from '../../lib/async/batcher.js'
import type { Scope } from '../../model/organizations/scope.js'
import { Problem } from '../../model/problem.js'
import { findTokenHolders } from '../../storage/instances/tokens.js'
import { directoryHash } from '../../storage/organizations/directory.js'
import { refuseSuspended } from '../organizations/suspension.js'
import type { Caller } from './api-keys.js'

const MAX_BATCH = 500
const TOKEN_SCOPES: readonly Scope[] = ['gateway']

/**
 * Creates the function that authenticates an instance's token. Every request asks the database, so that a token ends
 * with its instance in every process; requests of the same moment share one query. Throws invalid_api_key, and
 * organization_suspended.
 */
export function createTokenAuthenticator(ctx: Context): (token: string) => Promise<Caller> {
  const lookUp = batch((hashes: Buffer[]) => findTokenHolders(ctx.database, hashes), MAX_BATCH)

  return async (presented) => {
    const holder = await lookUp(directoryHash(presented))
    if (holder === null) throw new Problem('invalid_api_key', 'The token of no instance')
    const { instance, tenant } = holder
    refuseSuspended(tenant)
    return { keyId: instance.id, scopes: TOKEN_SCOPES, tenant, instance, memberId: null }
  }
}
