import type { Context, OperatorContext } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import { Problem } from '../../model/problem.js'
import { listMembers } from '../../storage/identity/members.js'
import { insertSignInLink } from '../../storage/identity/sign-in-links.js'
import { findMemberOrganization, memberNotFound } from './members.js'

const LINK_MS = 24 * 60 * 60_000

export type LinkContext = OperatorContext & Pick<Context, 'signInTokens' | 'publicUrl'>

/** A link that signs a member in once. */
export interface SignInLink {
  url: string
  expires_at: Date
}

/** Creates a link that signs a member in once, within a day. Throws member_not_found. */
export async function createSignInLink(
  ctx: LinkContext,
  organizationId: string,
  memberId: string,
): Promise<SignInLink> {
  const id = newId()
  const now = ctx.clock()
  const expiresAt = new Date(now.getTime() + LINK_MS)
  const { token, secretHash } = ctx.signInTokens.link.issue(organizationId, id)
  if (!(await insertSignInLink(ctx.database, organizationId, memberId, { id, secretHash, now, expiresAt }))) {
    return memberNotFound(memberId)
  }
  // Browsers do not send the part after #, so the token is in no server log.
  return { url: `${ctx.publicUrl()}/console/sign-in#${token}`, expires_at: expiresAt }
}

/**
 * Creates a link for an owner. A link for another owner who has a password would give away that account, so only an
 * operator can create it. Also throws forbidden.
 */
export async function createSignInLinkByOwner(
  ctx: LinkContext,
  organizationId: string,
  ownerId: string,
  memberId: string,
): Promise<SignInLink> {
  const id = memberId.toLowerCase()
  const members = await listMembers(ctx.database, organizationId)
  if (id !== ownerId && members.some((member) => member.id === id && member.role === 'owner' && member.has_password)) {
    throw new Problem(
      'forbidden',
      'This owner already has a password: only the operator can make a sign-in link for them',
    )
  }
  return createSignInLink(ctx, organizationId, memberId)
}

/** Creates a link for an operator, who gives only the member's id. Throws member_not_found. */
export async function createSignInLinkOfMember(ctx: LinkContext, memberId: string): Promise<SignInLink> {
  return createSignInLink(ctx, await findMemberOrganization(ctx, memberId), memberId)
}
