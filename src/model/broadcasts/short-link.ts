import { Type } from 'typebox'
import { Problem } from '../problem.js'
import { sentence } from '../sentence.js'

/** A short link, as its row is stored. */
export interface ShortLink {
  code: string
  redirect_url: string
  created_at: Date
}

const MAX_URL_LENGTH = 2_000
const CODE = '^[A-Za-z0-9_-]{3,64}$'
const CODE_PATTERN = new RegExp(CODE)

export const CreateShortLink = Type.Object({
  redirect_url: Type.String({
    minLength: 1,
    maxLength: MAX_URL_LENGTH,
    description: 'The target: an http or https URL, with its utm parameters',
  }),
  code: Type.Optional(
    Type.String({
      pattern: CODE,
      description: 'must be 3 to 64 letters, digits, hyphens and underscores',
    }),
  ),
})

/** Throws invalid_field if the URL cannot be the target of a link. */
export function checkRedirectUrl(redirectUrl: string): void {
  const url = /[\s\p{Cc}]/u.test(redirectUrl) || !URL.canParse(redirectUrl) ? null : new URL(redirectUrl)
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (isWeb && url.username === '' && url.password === '') return
  throw new Problem('invalid_field', sentence('link_target', { field: 'redirect_url' }))
}

/** Whether a link may have this code. */
export function isShortCode(value: string): boolean {
  return CODE_PATTERN.test(value)
}

/**
 * The code in a button parameter, which may also be a path (`offers/abc?x=1`) or a whole URL. Null if there is none.
 * Codes have no slash, so a value without a slash is a code as a whole.
 */
export function readShortCode(value: string): string | null {
  const path = value.trim().replace(/[?#].*$/s, '')
  const last = path.replace(/\/+$/, '').split('/').at(-1) ?? ''
  return isShortCode(last) ? last : null
}

/** A short link as the API shows it. */
export function presentShortLink({ code, redirect_url }: ShortLink, publicUrl: string) {
  return { code, short_url: `${publicUrl}/s/${code}`, redirect_url }
}
