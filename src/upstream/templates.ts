import { AnswerTooLongError } from '../lib/http/exchange.js'
import { errorMessage } from '../lib/text/error-message.js'
import { asObject, asObjects, asText, type JsonObject } from '../lib/text/json.js'
import { beginningOf, toStorableDeep } from '../lib/text/text.js'
import { type Answer, bareStatusText, readId } from './answer.js'
import { type Connection, makeCall, type UpstreamAccess } from './connection.js'

/** A business account and its access token. */
export interface BusinessAccount extends UpstreamAccess {
  businessAccountId: string
}

/** A template of a business account; all texts are storable. */
export interface ListedTemplate {
  upstreamId: string | null
  name: string
  language: string
  /** APPROVED, PAUSED, … in upper case; possibly a value unknown to Parley. */
  status: string
  category: string
  /** Null if the upstream gives none. */
  parameterFormat: 'NAMED' | 'POSITIONAL' | null
  components: JsonObject[]
  /** Null if it was not rejected, or no reason is given. */
  rejectedReason: string | null
  /** GREEN, YELLOW, … in upper case; null if there is none. */
  quality: string | null
}

/** Where a list of templates continues. */
export interface TemplateCursor {
  /** The upstream's cursor; null: at the beginning. */
  after: string | null
  /** The maximum size of a page. */
  limit: number
}

/** The outcome of reading a page of a list, which can be repeated. */
export type ListTemplatesOutcome =
  /** At most one template of a name and language, and none if the page was too large; `next` is null at the end. */
  | { outcome: 'listed'; templates: ListedTemplate[]; next: TemplateCursor | null }
  /** `code` is the upstream's, or the HTTP status if there is none. */
  | { outcome: 'refused'; because: 'request' | 'credentials'; code: number; text: string }
  | { outcome: 'limited'; code: number; text: string; retryAfterMs: number | null }
  | { outcome: 'failed'; text: string }

export type CheckTemplatesOutcome = { outcome: 'readable' } | Exclude<ListTemplatesOutcome, { outcome: 'listed' }>

/** What is read of a template. */
export const FIELDS = 'id,name,language,status,category,parameter_format,components,rejected_reason,quality_score'
/** A template takes two or three kilobytes, so a page stays far below the maximum size of an answer. */
const PAGE_LIMIT = 100
/** Enough to see that templates can be read. */
const CHECK_LIMIT = 5
/** If a page is too large, the next attempt asks for this many times fewer. */
const SHRINK = 5
const MAX_NAME_LENGTH = 512
const UNKNOWN = 'UNKNOWN'

/**
 * Lists the templates of a business account on the page at `cursor` (null: the first), waiting at most `timeoutMs`.
 * Never throws.
 */
export async function listTemplates(
  connection: Connection,
  account: BusinessAccount,
  cursor: TemplateCursor | null,
  timeoutMs: number,
): Promise<ListTemplatesOutcome> {
  const { after, limit } = cursor ?? { after: null, limit: PAGE_LIMIT }
  const read = await readPage(connection, account, { after, limit }, timeoutMs)
  if (read.outcome === 'too_large') {
    if (limit === 1) return { outcome: 'failed', text: 'a template is too large to be read' }
    return { outcome: 'listed', templates: [], next: { after, limit: Math.max(1, Math.floor(limit / SHRINK)) } }
  }
  if (read.outcome !== 'page') return read
  const templates = new Map(read.templates.map((template) => [`${template.name} ${template.language}`, template]))
  return {
    outcome: 'listed',
    templates: [...templates.values()],
    next: read.next === null ? null : { after: read.next, limit },
  }
}

/**
 * Checks that an access token can list the templates of a business account, waiting at most `timeoutMs`. Never throws.
 */
export async function checkTemplates(
  connection: Connection,
  account: BusinessAccount,
  timeoutMs: number,
): Promise<CheckTemplatesOutcome> {
  const read = await readPage(connection, account, { after: null, limit: CHECK_LIMIT }, timeoutMs)
  // A page that is too large can still be listed in parts.
  return read.outcome === 'page' || read.outcome === 'too_large' ? { outcome: 'readable' } : read
}

type Page =
  /** `next` is the cursor of the next page; null at the end. */
  { outcome: 'page'; templates: ListedTemplate[]; next: string | null } | { outcome: 'too_large' }

async function readPage(
  connection: Connection,
  account: BusinessAccount,
  { after, limit }: TemplateCursor,
  timeoutMs: number,
): Promise<Page | Exclude<ListTemplatesOutcome, { outcome: 'listed' }>> {
  const query = new URLSearchParams({ fields: FIELDS, limit: String(limit), ...(after === null ? {} : { after }) })
  const path = `/${encodeURIComponent(account.businessAccountId)}/message_templates?${query}`
  try {
    return toPage(await makeCall(connection, account, { method: 'GET', path }, timeoutMs))
  } catch (error) {
    if (error instanceof AnswerTooLongError) return { outcome: 'too_large' }
    return { outcome: 'failed', text: `no answer: ${errorMessage(error)}` }
  }
}

function toPage(answer: Answer): Page | Exclude<ListTemplatesOutcome, { outcome: 'listed' }> {
  const { status, isSuccess, body, error, retryAfterMs } = answer
  if (isSuccess && body !== null && Array.isArray(body.data)) {
    const paging = asObject(body.paging)
    const cursor = asText(asObject(paging.cursors).after)
    const hasNext = asText(paging.next) !== null
    if (hasNext && cursor === null) return { outcome: 'failed', text: 'a page names a next one, but no cursor to it' }
    return {
      outcome: 'page',
      templates: asObjects(toStorableDeep(body.data)).flatMap((item) => readTemplate(item) ?? []),
      next: hasNext ? cursor : null,
    }
  }
  if (error) {
    const { code, kind, text } = error
    if (kind === 'limited') return { outcome: 'limited', code, text, retryAfterMs }
    if (kind === 'credentials') return { outcome: 'refused', because: 'credentials', code, text }
    if (kind === 'busy' || status >= 500) return { outcome: 'failed', text }
    return { outcome: 'refused', because: 'request', code, text }
  }
  const text = isSuccess ? `HTTP ${status} without a list` : bareStatusText(status)
  if (status === 401 || status === 403) return { outcome: 'refused', because: 'credentials', code: status, text }
  if (status === 429) return { outcome: 'limited', code: status, text, retryAfterMs }
  return { outcome: 'failed', text }
}

/** Reads a template. Null without a name or language, since it could not be sent. */
export function readTemplate(item: JsonObject): ListedTemplate | null {
  const name = asText(item.name)
  const language = asText(item.language)
  if (name === null || language === null) return null
  if (name.length > MAX_NAME_LENGTH || language.length > MAX_NAME_LENGTH) return null
  const format = asText(item.parameter_format)?.toUpperCase()
  return {
    upstreamId: readId(item.id),
    name,
    language,
    status: asText(item.status)?.toUpperCase() ?? UNKNOWN,
    category: asText(item.category)?.toUpperCase() ?? UNKNOWN,
    parameterFormat: format === 'NAMED' || format === 'POSITIONAL' ? format : null,
    components: asObjects(item.components),
    rejectedReason: readWord(item.rejected_reason),
    quality: readWord(asObject(item.quality_score).score),
  }
}

const MAX_WORD_LENGTH = 100

/** A word of the upstream, in upper case; null if it says that there is none. */
function readWord(value: unknown): string | null {
  const word = beginningOf(asText(value)?.toUpperCase() ?? 'NONE', MAX_WORD_LENGTH)
  return word === 'NONE' ? null : word
}
