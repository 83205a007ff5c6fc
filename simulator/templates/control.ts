import type { FastifyInstance } from 'fastify'
import type { JsonObject } from '../../src/lib/text/json.js'
import { firstAttempt } from '../callbacks/first-attempt.js'
import type { Context } from '../context.js'
import { type Answer, answer, withBody } from '../control/answer.js'
import { invalidField, invalidQuery, isProblem, missingField, type Problem, problem } from '../control/problems.js'
import { accountsOf, type BusinessNumber, findNumber, numbersOf } from '../numbers/business-numbers.js'
import { isFilled } from '../sending/content/checks.js'
import { statusChange, type TemplateEvent } from './changes.js'
import type { StoredTemplate } from './store.js'
import { readTemplate, templateStatuses } from './template.js'

type ListRoute = { Querystring: JsonObject }

/** The status after an event that is not itself a status; null leaves the status unchanged. */
const statusesOfEvents: Record<string, string | null> = { FLAGGED: null, REINSTATED: 'APPROVED' }
const events = [...templateStatuses, ...Object.keys(statusesOfEvents)]

/** The control endpoints that create templates, change their status and delete them. */
export function templatesControl(app: FastifyInstance, context: Context): void {
  app.get<ListRoute>('/templates', (request, reply) => answer(reply, listTemplates(context, request.query)))
  app.put('/templates', (request, reply) => withBody(request, reply, (body) => putTemplate(context, body)))
  app.delete('/templates', (request, reply) => withBody(request, reply, (body) => removeTemplates(context, body)))
  app.post('/templates/status', (request, reply) => withBody(request, reply, (body) => changeStatus(context, body)))
}

function listTemplates(context: Context, query: JsonObject): Answer {
  if (Object.values(query).some(Array.isArray)) {
    return invalidQuery('phone_number_id and business_account_id may be given once')
  }
  const isNarrowed = query.phone_number_id !== undefined || query.business_account_id !== undefined
  const number = isNarrowed ? findAccount(context, query) : null
  if (number && isProblem(number)) return number
  const accountIds = number ? [number.business_account_id] : accountsOf(context.numbers)
  const templates = accountIds.flatMap((accountId) =>
    context.templates.list(accountId).map(({ template }) => ({ business_account_id: accountId, ...template })),
  )
  return { success: true, total: templates.length, templates }
}

function putTemplate(context: Context, body: JsonObject): Answer {
  const number = findAccount(context, body)
  if (isProblem(number)) return number
  const template = readTemplate(body.template)
  if (isProblem(template)) return template
  return { success: true, template: context.templates.put(number.business_account_id, template) }
}

/** Without a language, deletes the template in all languages; without a name, deletes all templates. */
function removeTemplates(context: Context, body: JsonObject): Answer {
  const number = findAccount(context, body)
  if (isProblem(number)) return number
  const { name, language } = body
  const wrong = Object.entries({ name, language }).find(([, value]) => value !== undefined && !isFilled(value))
  if (wrong) return invalidField(`${wrong[0]} must be a string that is not empty`)
  const accountId = number.business_account_id
  const matching = context.templates
    .list(accountId)
    .map(({ template }) => template)
    .filter((one) => (name ?? one.name) === one.name && (language ?? one.language) === one.language)
  if (matching.length === 0 && name !== undefined) return unknownTemplate(body)
  for (const one of matching) context.templates.remove(accountId, one.name, one.language)
  return { success: true, removed: matching.length }
}

async function changeStatus(context: Context, body: JsonObject): Promise<Answer> {
  const number = findAccount(context, body)
  if (isProblem(number)) return number
  const { name, language, event, reason = null } = body
  if (name === undefined) return missingField('name')
  if (language === undefined) return missingField('language')
  if (event === undefined) return missingField('event')
  if (!events.includes(String(event))) return invalidField(`event must be one of ${events.join(', ')}`)
  if (reason !== null && !isFilled(reason)) return invalidField('reason must be a string that is not empty, or null')
  const known = context.templates.find(number.business_account_id, String(name), String(language))
  if (!known) return unknownTemplate(body)
  const templateEvent = { event: String(event), reason: reason === null ? null : String(reason) }
  const template = context.templates.put(number.business_account_id, withEvent(known.template, templateEvent))
  const content = { kind: 'change', change: statusChange(template, templateEvent) } as const
  return { success: true, template, ...(await firstAttempt(context, number.phone_number_id, content, true)) }
}

function withEvent(template: StoredTemplate, { event, reason }: TemplateEvent): StoredTemplate {
  const status = Object.hasOwn(statusesOfEvents, event) ? statusesOfEvents[event] : event
  const rejected = status === 'REJECTED' && reason !== null ? reason : 'NONE'
  return { ...template, status: status ?? template.status, rejected_reason: rejected }
}

/** Finds a number of the account that a body names directly or by one of its numbers. */
function findAccount(context: Context, body: JsonObject): BusinessNumber | Problem {
  const { phone_number_id: phoneNumberId, business_account_id: accountId } = body
  if (phoneNumberId !== undefined) return findNumber(context.numbers, body)
  if (accountId === undefined || accountId === '') return missingField('phone_number_id (or business_account_id)')
  if (typeof accountId !== 'string') return invalidField('business_account_id must be a string')
  const [number] = numbersOf(context.numbers, accountId)
  return number ?? problem(404, 'Account not found', `No business number of the account ${accountId} is registered`)
}

function unknownTemplate({ name, language }: JsonObject): Problem {
  const inLanguage = language === undefined ? '' : ` in ${language}`
  return problem(
    404,
    'Template not found',
    `The account has no template ${name}${inLanguage}: GET /_sim/templates lists them`,
  )
}
