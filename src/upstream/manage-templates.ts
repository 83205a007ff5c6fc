import { NotConnectedError } from '../lib/http/dispatch.js'
import { errorMessage } from '../lib/text/error-message.js'
import { asObject, asText, type JsonObject } from '../lib/text/json.js'
import { toStorable, toStorableDeep } from '../lib/text/text.js'
import { type Answer, bareStatusText, readId } from './answer.js'
import { type Call, type Connection, makeCall, type UpstreamAccess } from './connection.js'
import { type BusinessAccount, FIELDS, type ListedTemplate, readTemplate } from './templates.js'

/** The outcome of a call that failed. */
export type TemplateFailure =
  /** `code` is the upstream's, or the HTTP status if there is none; `subcode` is only the upstream's. */
  | {
      outcome: 'refused'
      because: 'request' | 'credentials'
      code: number
      subcode: number | null
      text: string
    }
  | { outcome: 'limited'; code: number; text: string; retryAfterMs: number | null }
  /** Nothing was done. */
  | { outcome: 'failed'; text: string }
  /** The upstream may have done it or not. */
  | { outcome: 'unknown'; text: string }

/** The outcome of creating a template. */
export type CreateTemplateOutcome =
  | { outcome: 'created'; upstreamId: string; status: string | null; category: string | null }
  | TemplateFailure
/** The outcome of editing or deleting a template. */
export type ChangeTemplateOutcome = { outcome: 'done' } | TemplateFailure
/** The outcome of reading one template. */
export type FindTemplateOutcome = { outcome: 'found'; template: ListedTemplate } | TemplateFailure

/** Creates a template in an account, waiting at most `timeoutMs`. Never throws. */
export async function createTemplate(
  connection: Connection,
  account: BusinessAccount,
  fields: JsonObject,
  timeoutMs: number,
): Promise<CreateTemplateOutcome> {
  const call = post(`/${encodeURIComponent(account.businessAccountId)}/message_templates`, fields)
  return perform(connection, account, { call, timeoutMs }, ({ body }) => {
    const upstreamId = readId(body?.id)
    if (upstreamId === null) return null
    const word = (value: unknown) => asText(value)?.toUpperCase() ?? null
    return { outcome: 'created', upstreamId, status: word(body?.status), category: word(body?.category) }
  })
}

/** Changes the given fields of a template, waiting at most `timeoutMs`. Never throws. */
export async function editTemplate(
  connection: Connection,
  account: BusinessAccount,
  { upstreamId, fields }: { upstreamId: string; fields: JsonObject },
  timeoutMs: number,
): Promise<ChangeTemplateOutcome> {
  const call = post(`/${encodeURIComponent(upstreamId)}`, fields)
  return perform(connection, account, { call, timeoutMs }, readSuccess)
}

/** Deletes a template by its name, in one language if its id is given. Waits at most `timeoutMs`. Never throws. */
export async function deleteTemplate(
  connection: Connection,
  account: BusinessAccount,
  { name, upstreamId }: { name: string; upstreamId: string | null },
  timeoutMs: number,
): Promise<ChangeTemplateOutcome> {
  const query = new URLSearchParams({ name, ...(upstreamId === null ? {} : { hsm_id: upstreamId }) })
  const path = `/${encodeURIComponent(account.businessAccountId)}/message_templates?${query}`
  return perform(connection, account, { call: { method: 'DELETE', path }, timeoutMs }, readSuccess)
}

/** Reads one template, waiting at most `timeoutMs`. Never throws. */
export async function findTemplate(
  connection: Connection,
  account: BusinessAccount,
  upstreamId: string,
  timeoutMs: number,
): Promise<FindTemplateOutcome> {
  const path = `/${encodeURIComponent(upstreamId)}?${new URLSearchParams({ fields: FIELDS })}`
  return perform(connection, account, { call: { method: 'GET', path }, timeoutMs }, ({ body }) => {
    const template = readTemplate(asObject(toStorableDeep(body)))
    return template === null ? null : { outcome: 'found', template }
  })
}

/**
 * Makes a call for an account, and reads what it did with `read`, which returns null if the answer does not say so.
 * Never throws.
 */
export async function perform<Result extends { outcome: string }>(
  connection: Connection,
  access: UpstreamAccess,
  { call, timeoutMs }: { call: Call; timeoutMs: number },
  read: (answer: Answer) => Result | null,
): Promise<Result | TemplateFailure> {
  try {
    const answer = await makeCall(connection, access, call, timeoutMs)
    const result = answer.isSuccess ? read(answer) : null
    return result ?? toFailure(answer)
  } catch (error) {
    const text = `no answer: ${errorMessage(error)}`
    return { outcome: error instanceof NotConnectedError ? 'failed' : 'unknown', text }
  }
}

function post(path: string, fields: JsonObject): Call {
  return { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(fields) }
}

function readSuccess({ body }: Answer): { outcome: 'done' } | null {
  return body?.success === true ? { outcome: 'done' } : null
}

function toFailure(answer: Answer): TemplateFailure {
  const { status, isSuccess, body, error, retryAfterMs } = answer
  if (error) {
    const { code, kind } = error
    const text = readWords(body, error.text)
    if (kind === 'limited') return { outcome: 'limited', code, text, retryAfterMs }
    if (kind === 'busy') return { outcome: 'failed', text }
    if (status >= 500) return { outcome: 'unknown', text }
    const because = kind === 'credentials' ? 'credentials' : 'request'
    return { outcome: 'refused', because, code, subcode: error.subcode || null, text }
  }
  const text = isSuccess ? `HTTP ${status} with an unexpected body` : bareStatusText(status)
  if (status === 401 || status === 403) {
    return { outcome: 'refused', because: 'credentials', code: status, subcode: null, text }
  }
  if (status === 429) return { outcome: 'limited', code: status, text, retryAfterMs }
  if (isSuccess || status >= 500 || status === 408) return { outcome: 'unknown', text }
  return { outcome: 'refused', because: 'request', code: status, subcode: null, text }
}

const MAX_TEXT_LENGTH = 1_000

/** The upstream's words for people; its text if there are none. */
function readWords(body: Answer['body'], text: string): string {
  const { error_user_title: title, error_user_msg: message } = asObject(body?.error)
  const words = [asText(title), asText(message)].filter((word) => word !== null).join(': ')
  return words === '' ? text : toStorable(words.slice(0, MAX_TEXT_LENGTH))
}
