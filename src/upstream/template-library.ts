import { asObject, asObjects, asText, type JsonObject } from '../lib/text/json.js'
import { toStorableDeep } from '../lib/text/text.js'
import type { Connection, UpstreamAccess } from './connection.js'
import { perform, type TemplateFailure } from './manage-templates.js'

/** What is looked for in the library. Words are the upstream's: ORDER_MANAGEMENT, E_COMMERCE. */
export interface LibraryQuery {
  search?: string | undefined
  topic?: string | undefined
  usecase?: string | undefined
  industry?: string | undefined
  language?: string | undefined
  name?: string | undefined
  /** The upstream's cursor. */
  after?: string | undefined
}

/** A template of the upstream's library; all texts are storable. */
export interface LibraryTemplate {
  name: string
  language: string
  category: string
  topic: string | null
  usecase: string | null
  industry: string[]
  header: string | null
  body: string
  footer: string | null
  /** The examples of the variables in the body, in order, and what each takes: TEXT, DATE, AMOUNT. */
  body_params: string[]
  body_param_types: string[]
  /** As the upstream lists them. Those of the types URL and PHONE_NUMBER need an input. */
  buttons: JsonObject[]
}

/** The outcome of reading a page of the library; `next` is the cursor of the next page. */
export type ListLibraryOutcome =
  | { outcome: 'listed'; templates: LibraryTemplate[]; next: string | null }
  | TemplateFailure

const PAGE_LIMIT = 50
const MAX_CURSOR_LENGTH = 1_000

/** Lists a page of the library, waiting at most `timeoutMs`. Never throws. */
export async function listLibrary(
  connection: Connection,
  account: UpstreamAccess,
  query: LibraryQuery,
  timeoutMs: number,
): Promise<ListLibraryOutcome> {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const path = `/message_template_library?${new URLSearchParams([...given, ['limit', String(PAGE_LIMIT)]])}`
  return perform(connection, account, { call: { method: 'GET', path }, timeoutMs }, ({ body }) => {
    if (body === null || !Array.isArray(body.data)) return null
    const paging = asObject(body.paging)
    const cursor = asText(asObject(paging.cursors).after)
    const hasNext = asText(paging.next) !== null && cursor !== null && cursor.length <= MAX_CURSOR_LENGTH
    const templates = asObjects(toStorableDeep(body.data)).flatMap((item) => readTemplate(item) ?? [])
    return { outcome: 'listed', templates, next: hasNext ? cursor : null }
  })
}

/** Null without a name, a language or a body. */
function readTemplate(item: JsonObject): LibraryTemplate | null {
  const [name, language, body] = [asText(item.name), asText(item.language), asText(item.body)]
  if (name === null || language === null || body === null) return null
  return {
    ...{ name, language, body },
    category: asText(item.category)?.toUpperCase() ?? 'UTILITY',
    topic: asText(item.topic),
    usecase: asText(item.usecase),
    industry: textsOf(item.industry),
    header: asText(item.header),
    footer: asText(item.footer),
    body_params: textsOf(item.body_params),
    body_param_types: textsOf(item.body_param_types),
    buttons: asObjects(item.buttons),
  }
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
}
