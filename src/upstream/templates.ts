import { AnswerTooLongError } from '../lib/http/exchange.js'
import { asObject, asObjects, asText, type JsonObject } from '../lib/text/json.js'
import { toStorableDeep } from '../lib/text/text.js'
import { type Answer, bareStatusText, readId } from './answer.js'
import { type BusinessNumber, type Connection, makeCall } from './connection.js'

/** A business account and the credential to read it. */
export interface BusinessAccount extends Pick<BusinessNumber, 'accessToken'> {
  businessAccountId: string
}

/** A template of a business account; all texts can be stored. */
export interface ListedTemplate {
  upstreamId: string | null
  name: string
  language: string
  /** APPROVED, PAUSED, … in upper case, or one not known here. */
  status: string
  category: string
  /** Null where the upstream does not say. */
  parameterFormat: 'NAMED' | 'POSITIONAL' | null
  components: JsonObject[]
}

/** What became of a listing; it may always be repeated. */
export type ListTemplatesOutcome =
  /** All of them. */
  | { outcome: 'listed'; templates: ListedTemplate[] }
  /** `code` is the upstream's, or the HTTP status where its answer has none. */
  | { outcome: 'refused'; because: 'request' | 'credentials'; code: number; text: string }
  | { outcome: 'limited'; code: number; text: string; retryAfterMs: number | null }
  | { outcome: 'failed'; text: string }

/** What became of asking for a few templates. */
export type CheckTemplatesOutcome = { outcome: 'readable' } | Exclude<ListTemplatesOutcome, { outcome: 'listed' }>

/** How long a listing may take, in milliseconds. */
export interface ListingPatience {
  callTimeoutMs: number
  /** Of all its pages. */
  totalTimeoutMs: number
}

const FIELDS = 'id,name,language,status,category,parameter_format,components'
/** A template takes two or three kilobytes, so that a page stays far below the size of an answer that is read. */
const PAGE_LIMIT = 100
/** Enough to see that they are shown. */
const CHECK_LIMIT = 5
/** Where templates are so large that a page is not read, the next try asks for so many times fewer. */
const SHRINK = 5
/** The upstream lets an account have 6,000. */
const MAX_PAGES = 400
const MAX_NAME_LENGTH = 512
const UNKNOWN = 'UNKNOWN'

/** Lists all templates of a business account, page by page. Never throws. */
export async function listTemplates(
  connection: Connection,
  account: BusinessAccount,
  { callTimeoutMs, totalTimeoutMs }: ListingPatience,
): Promise<ListTemplatesOutcome> {
  const deadline = Date.now() + totalTimeoutMs
  const templates = new Map<string, ListedTemplate>()
  let after: string | null = null
  let limit = PAGE_LIMIT
  for (let page = 1; page <= MAX_PAGES; page++) {
    const timeoutMs = Math.min(callTimeoutMs, deadline - Date.now())
    if (timeoutMs <= 0) return { outcome: 'failed', text: `the list did not end within ${totalTimeoutMs} ms` }
    const read = await readPage(connection, account, { after, limit }, timeoutMs)
    if (read.outcome === 'too_large') {
      if (limit === 1) return { outcome: 'failed', text: 'a template is too large to be read' }
      limit = Math.max(1, Math.floor(limit / SHRINK))
      continue
    }
    if (read.outcome !== 'page') return read
    // A list that changes while it is read may show one twice.
    for (const template of read.templates) templates.set(`${template.name} ${template.language}`, template)
    if (read.next === null) return { outcome: 'listed', templates: [...templates.values()] }
    after = read.next
  }
  return { outcome: 'failed', text: `the list has more than ${MAX_PAGES} pages` }
}

/** Asks whether an access token lists the templates of a business account, by a page of them; gives up after `timeoutMs`. Never throws. */
export async function checkTemplates(
  connection: Connection,
  account: BusinessAccount,
  timeoutMs: number,
): Promise<CheckTemplatesOutcome> {
  const read = await readPage(connection, account, { after: null, limit: CHECK_LIMIT }, timeoutMs)
  // What is too large to be read can be listed all the same.
  return read.outcome === 'page' || read.outcome === 'too_large' ? { outcome: 'readable' } : read
}

type Page =
  /** `next`: the cursor after which the next page begins; null at the end. */
  { outcome: 'page'; templates: ListedTemplate[]; next: string | null } | { outcome: 'too_large' }

async function readPage(
  connection: Connection,
  { businessAccountId, accessToken }: BusinessAccount,
  { after, limit }: { after: string | null; limit: number },
  timeoutMs: number,
): Promise<Page | Exclude<ListTemplatesOutcome, { outcome: 'listed' }>> {
  const query = new URLSearchParams({ fields: FIELDS, limit: String(limit), ...(after === null ? {} : { after }) })
  const path = `/${encodeURIComponent(businessAccountId)}/message_templates?${query}`
  try {
    return toPage(await makeCall(connection, { accessToken }, { method: 'GET', path }, timeoutMs))
  } catch (error) {
    if (error instanceof AnswerTooLongError) return { outcome: 'too_large' }
    return { outcome: 'failed', text: `no answer: ${error instanceof Error ? error.message : String(error)}` }
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

/** Null for what has no name or language, so that nobody could send it. */
function readTemplate(item: JsonObject): ListedTemplate | null {
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
  }
}
