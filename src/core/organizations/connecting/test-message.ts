import type { Context } from '../../../context.js'
import { sleep } from '../../../lib/async/backoff.js'
import { startCountdown } from '../../../lib/async/timeout.js'
import { newId } from '../../../lib/bytes/id.js'
import { asObject, asObjects, asText, parseJsonObject } from '../../../lib/text/json.js'
import { readNumber } from '../../../model/contacts/written-number.js'
import type { ConnectionReason, StepFinding } from '../../../model/organizations/connection-steps.js'
import type { Organization } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { listCallbacksWith } from '../../../storage/callbacks/callbacks.js'
import type { SendOutcome } from '../../../upstream/client.js'
import type { OutboundContent } from '../../../upstream/wire.js'
import { type Asking, found, type NumberCredentials } from './findings.js'

/** What came of a test message, and whether a callback has told it. */
export interface TestMessage {
  finding: StepFinding
  hasCallback: boolean
}

/** The newest status that the upstream has reported; `code` and `text`: why it failed. */
interface Report {
  status: 'sent' | 'delivered' | 'failed'
  code: number
  text: string
}

/** How long the statuses are waited for. */
const REPORTS_MS = 10_000
const POLL_MS = 200
/** Every account of a test number has this template. */
const TEMPLATE: OutboundContent = {
  type: 'template',
  template: { name: 'hello_world', language: { code: 'en_US' }, components: [] },
}
/** Reaches people who have written within the last 24 hours. */
const TEXT: OutboundContent = { type: 'text', text: { body: 'Hello from Parley: this number can send.' } }
/** The number, or its account, has no such template to send. */
const LACKS_TEMPLATE = new Set([131058, 132001, 132015, 132016])

/** The errors that have a cure of their own. */
const REASONS: Readonly<Record<number, ConnectionReason>> = {
  368: 'sent_locked',
  131026: 'sent_unreachable',
  131030: 'sent_not_listed',
  131031: 'sent_locked',
  131037: 'sent_unnamed',
  131042: 'sent_unpaid',
  131047: 'sent_too_late',
  133010: 'sent_unregistered',
}

/** The digits of the number to which a test message goes. Throws invalid_field. */
export function readTestRecipient({ default_country }: Pick<Organization, 'default_country'>, given: string): string {
  const number = readNumber(given, default_country, 'api').preferred
  if (number?.kind === 'phone') return number.digits
  throw new Problem(
    'invalid_field',
    `send_to "${given}" is not a phone number: give it with its country code, such as +5511999990000`,
  )
}

/**
 * Sends a message to a number that the caller has given, and waits for what the upstream reports about it: the template
 * hello_world, or a text if the number has no such template. It is no message of a conversation, and is not stored.
 */
export async function sendTestMessage(
  { database }: Pick<Context, 'database'>,
  asking: Asking,
  { organizationId, credentials, to }: { organizationId: string; credentials: NumberCredentials; to: string },
): Promise<TestMessage> {
  const mark = newId()
  const send = (content: OutboundContent) =>
    asking.upstream.send(
      credentials,
      { messaging_product: 'whatsapp', to, biz_opaque_callback_data: mark, ...content },
      asking.callMs(),
    )
  const first = await send(TEMPLATE)
  const sent = first.outcome === 'refused' && LACKS_TEMPLATE.has(first.code) ? await send(TEXT) : first
  if (sent.outcome !== 'accepted') return { finding: judgeRefusal(sent, to), hasCallback: false }
  const report = await waitForReport(startCountdown(Math.min(REPORTS_MS, asking.callMs())), () =>
    readReport(database, organizationId, mark),
  )
  return { finding: judgeReport(report, to), hasCallback: report !== null }
}

/** Resolves to the last report before the time was over; null: there was none. */
async function waitForReport(leftMs: () => number, read: () => Promise<Report | null>): Promise<Report | null> {
  for (;;) {
    const report = await read()
    if ((report !== null && report.status !== 'sent') || leftMs() === 0) return report
    await sleep(Math.min(POLL_MS, leftMs()))
  }
}

/** Reads the statuses in the stored callbacks: they are there before they are processed. */
async function readReport(database: Context['database'], organizationId: string, mark: string): Promise<Report | null> {
  const bodies = await listCallbacksWith(database, organizationId, mark)
  const reports = bodies.flatMap((body) => readReports(body.toString('utf8'), mark))
  const found = (status: Report['status']) => reports.find((report) => report.status === status)
  return found('delivered') ?? found('failed') ?? found('sent') ?? null
}

function readReports(body: string, mark: string): Report[] {
  const changes = asObjects(parseJsonObject(body)?.entry).flatMap(({ changes }) => asObjects(changes))
  const statuses = changes.flatMap(({ value }) => asObjects(asObject(value).statuses))
  return statuses.filter((status) => status.biz_opaque_callback_data === mark).map(toReport)
}

function toReport({ status, errors }: Record<string, unknown>): Report {
  const [error = {}] = asObjects(errors)
  const text = asText(asObject(error.error_data).details) ?? asText(error.message) ?? asText(error.title) ?? ''
  const isThere = status === 'delivered' || status === 'read'
  return { status: isThere ? 'delivered' : status === 'failed' ? 'failed' : 'sent', code: Number(error.code), text }
}

function judgeRefusal(sent: Exclude<SendOutcome, { outcome: 'accepted' }>, to: string): StepFinding {
  if (sent.outcome !== 'refused') return found('sent_unanswered', { to, text: sent.text })
  return judgeError(sent, to, sent.because === 'credentials' ? 'sent_forbidden' : 'sent_refused')
}

function judgeReport(report: Report | null, to: string): StepFinding {
  switch (report?.status) {
    case 'delivered':
      return found('sent_delivered', { to })
    case 'sent':
      return found('sent_underway', { to })
    case 'failed':
      return judgeError(report, to, 'sent_refused')
    default:
      return found('sent_unreported', { to })
  }
}

function judgeError({ code, text }: { code: number; text: string }, to: string, otherwise: ConnectionReason) {
  const finding = found(REASONS[code] ?? otherwise, { to, text })
  return Number.isSafeInteger(code) ? { ...finding, upstreamCode: code } : finding
}
