import { Type } from 'typebox'
import { Problem } from '../problem.js'

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
    description: 'Where the link leads: http or https, with its utm parameters',
  }),
  code: Type.Optional(
    Type.String({
      pattern: CODE,
      description: 'must be 3 to 64 letters, digits, hyphens and underscores',
    }),
  ),
})

/** Throws invalid_field for what is no address that a link may lead to. */
export function checkRedirectUrl(redirectUrl: string): void {
  const url = /[\s\p{Cc}]/u.test(redirectUrl) || !URL.canParse(redirectUrl) ? null : new URL(redirectUrl)
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (isWeb && url.username === '' && url.password === '') return
  throw new Problem(
    'invalid_field',
    'redirect_url must be an address with http or https, without spaces, user name and password',
  )
}

/** Whether a link may have this code. */
export function isShortCode(value: string): boolean {
  return CODE_PATTERN.test(value)
}

/**
 * The code in the parameter of a template's button, which may be more than that: a path (`offers/abc?x=1`) or a whole address.
 * Null where there is none. No code holds a slash, so that a value without any is one as a whole.
 */
export function readShortCode(value: string): string | null {
  const path = value.trim().replace(/[?#].*$/s, '')
  const last = path.replace(/\/+$/, '').split('/').at(-1) ?? ''
  return isShortCode(last) ? last : null
}

/** A short link as the API shows it (contract 4). */
export function presentShortLink({ code, redirect_url }: ShortLink, publicUrl: string) {
  return { code, short_url: `${publicUrl}/s/${code}`, redirect_url }
}
