import type { Context } from '../../context.js'
import { Problem } from '../../model/problem.js'
import type { BusinessAccount, BusinessNumber } from '../../upstream/client.js'

type ProofContext = Pick<Context, 'upstream' | 'upstreamTimeoutMs'>

/**
 * Checks that an access token can read a number: without that, strangers could claim the number here. Throws
 * upstream_credentials, upstream_unavailable.
 */
export async function requireOpenedNumber(
  { upstream, upstreamTimeoutMs }: ProofContext,
  number: BusinessNumber,
): Promise<void> {
  const { phoneNumberId } = number
  const asked = await upstream.findNumber(number, upstreamTimeoutMs)
  switch (asked.outcome) {
    case 'found':
      return
    case 'refused': {
      const message =
        asked.because === 'credentials'
          ? `The upstream refused the access token: give a valid one, which may use the number ${phoneNumberId}`
          : `The access token cannot read the number ${phoneNumberId}: give the phone number id, not the phone number, and an access token of its owner`
      throw new Problem('upstream_credentials', message, { details: asked.text, upstream_code: asked.code })
    }
    case 'failed':
      throw notAsked(`the number ${phoneNumberId}`, asked.text)
  }
}

/** Checks a business account in the same way, by its templates. */
export async function requireOpenedAccount(
  { upstream, upstreamTimeoutMs }: ProofContext,
  account: BusinessAccount,
): Promise<void> {
  const { businessAccountId } = account
  const asked = await upstream.checkTemplates(account, upstreamTimeoutMs)
  switch (asked.outcome) {
    case 'readable':
      return
    case 'refused': {
      const message = `The access token does not open the business account ${businessAccountId} at the upstream: check the id, and that the token may manage its templates`
      throw new Problem('upstream_credentials', message, { details: asked.text, upstream_code: asked.code })
    }
    default:
      throw notAsked(`the business account ${businessAccountId}`, asked.text)
  }
}

function notAsked(what: string, text: string): Problem {
  return new Problem(
    'upstream_unavailable',
    `The upstream could not be asked for ${what}, so nothing was changed: try again later`,
    { details: text, retryable: true },
  )
}
