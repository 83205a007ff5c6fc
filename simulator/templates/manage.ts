import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { asObject, asObjects, type JsonObject, parseJsonObject } from '../../src/lib/text/json.js'
import { TEMPLATE_LIMITS } from '../../src/upstream/template-limits.js'
import { checkAccount } from '../authorization.js'
import { firstAttempt } from '../callbacks/first-attempt.js'
import type { Context } from '../context.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { refuse } from '../errors/refuse.js'
import { numbersOf } from '../numbers/business-numbers.js'
import { statusChange } from './changes.js'
import { checkTimeToLive, readContent, readKey } from './creation.js'
import { createFromLibrary } from './library.js'
import type { StoredTemplate } from './store.js'
import { categories, type Template } from './template.js'

type AccountRoute = { Params: { accountId: string }; Querystring: Partial<Record<string, string>> }
type TemplateRoute = { Params: { id: string } }
type Done = object | Refusal

const editable = ['APPROVED', 'REJECTED', 'PAUSED']
const subcodes = { tooMany: 2388019, deleted: 2388023, exists: 2388024 }

/** The upstream's endpoints that create and delete templates. */
export function templateChangesApi(app: FastifyInstance, context: Context): void {
  app.post<AccountRoute>('/:version(^v\\d+\\.\\d+$)/:accountId/message_templates', (request, reply) => {
    const done = create(context, request)
    if (isRefusal(done) || !isAnswerLost(request)) return answer(reply, done)
    reply.hijack()
    request.raw.socket.destroy()
    return reply
  })
  app.delete<AccountRoute>('/:version(^v\\d+\\.\\d+$)/:accountId/message_templates', (request, reply) =>
    answer(reply, remove(context, request)),
  )
}

/** Edits one template by its id. */
export function editTemplate(
  context: Context,
  request: FastifyRequest<TemplateRoute>,
  reply: FastifyReply,
): FastifyReply {
  return answer(reply, edit(context, request))
}

function answer(reply: FastifyReply, done: Done): FastifyReply {
  return isRefusal(done) ? refuse(reply, done) : reply.send(done)
}

/** As with recipients that end so, the template is created and the connection breaks. */
function isAnswerLost({ body }: FastifyRequest): boolean {
  return String(parseJsonObject(String(body))?.name).endsWith('000005')
}

/** No answer of these endpoints has a `body`. */
function isRefusal(done: Done): done is Refusal {
  return 'body' in done
}

function create(context: Context, request: FastifyRequest<AccountRoute>): Done {
  const { accountId } = request.params
  const read = readBody(context, accountId, request)
  if (isRefusal(read)) return read
  const { given: body } = read
  const key = readKey(body)
  if ('body' in key) return key
  const refusal = checkRoom(context, accountId, key) ?? checkTimeToLive(body, key.category)
  if (refusal) return refusal
  const isOfLibrary = body.library_template_name !== undefined
  const content = isOfLibrary ? createFromLibrary(body) : readContent(body, key.category, context.examples)
  if ('body' in content) return content
  const isApproved = isOfLibrary || context.settings.approve_templates
  const template = context.templates.put(accountId, {
    ...key,
    ...content,
    components: withAddresses(context, request, content.components),
    status: isApproved ? 'APPROVED' : 'PENDING',
    rejected_reason: 'NONE',
  })
  if (isApproved) report(context, accountId, template)
  return { id: template.id, status: template.status, category: template.category }
}

function checkRoom(context: Context, accountId: string, { name, language }: Pick<Template, 'name' | 'language'>) {
  const { templates } = context
  if (templates.find(accountId, name, language)) {
    return refusals.template(
      'Content in this language already exists',
      `There is already content in ${language} for the template ${name}`,
      subcodes.exists,
    )
  }
  if (!templates.history.isFree(accountId, name, Date.now())) {
    return refusals.template(
      'Message template language is being deleted',
      `The name ${name} can be used again 30 days after its template was deleted`,
      subcodes.deleted,
    )
  }
  if (templates.list(accountId).length < TEMPLATE_LIMITS.templates) return null
  const text = `An account has at most ${TEMPLATE_LIMITS.templates} message templates`
  return refusals.template('Message template limit exceeded', text, subcodes.tooMany)
}

function edit(context: Context, request: FastifyRequest<TemplateRoute>): Done {
  const { id } = request.params
  const known = context.templates.findById(id)
  if (!known) return refusals.unknownObject('POST', id)
  const read = readBody(context, known.accountId, request)
  if (isRefusal(read)) return read
  const { given: body } = read
  const { template, accountId } = known
  const refusal = checkEdit(context, template, body)
  if (refusal) return refusal
  const category = body.category === undefined ? template.category : String(body.category).toUpperCase()
  const isSame = body.components === undefined
  const format = { parameter_format: template.parameter_format }
  const content = isSame ? template : readContent({ ...format, ...body }, category, context.examples)
  if ('body' in content) return content
  const tooShort = checkTimeToLive(body, category)
  if (tooShort) return tooShort
  if (template.status === 'APPROVED') context.templates.history.noteEdit(id, Date.now())
  const { components, parameter_format } = content
  const edited = context.templates.put(accountId, {
    ...template,
    ...{ category, parameter_format, rejected_reason: 'NONE' },
    components: withAddresses(context, request, components),
    status: context.settings.approve_templates ? 'APPROVED' : 'PENDING',
  })
  if (context.settings.approve_templates) report(context, accountId, edited)
  return { success: true }
}

function checkEdit({ templates }: Context, template: StoredTemplate, body: JsonObject): Refusal | null {
  const { status, id, category } = template
  if (!editable.includes(status)) {
    return refusals.template(
      'Template cannot be edited',
      `Only templates that are ${editable.join(', ')} can be edited`,
    )
  }
  const wanted = String(body.category ?? category).toUpperCase()
  if (!categories.includes(wanted)) return refusals.template('Invalid parameter', `There is no category ${wanted}`)
  if (status !== 'APPROVED') return null
  if (wanted !== category) {
    return refusals.template('Template cannot be edited', "An approved template's category cannot be changed")
  }
  if (templates.history.mayEdit(id, Date.now())) return null
  const { perDay, perMonth } = TEMPLATE_LIMITS.edits
  return refusals.template(
    'Template cannot be edited',
    `An approved template can be edited ${perDay} time in 24 hours and ${perMonth} times in 30 days`,
  )
}

function remove(context: Context, { params, query, headers, method }: FastifyRequest<AccountRoute>): Done {
  const { accountId } = params
  const refusal = checkAccount(context, accountId, headers.authorization, { method, id: accountId })
  if (refusal) return refusal
  const { name, hsm_id: id } = query
  if (name === undefined) return refusals.invalidParameter('The parameter name is required.')
  const matching = context.templates
    .list(accountId)
    .map(({ template }) => template)
    .filter((one) => one.name === name && (id === undefined || one.id === id))
  if (matching.length === 0) {
    return refusals.template('Message template not found', `There is no message template ${name} to delete`)
  }
  if (matching.some(({ status }) => status === 'DISABLED')) {
    return refusals.template('Template cannot be deleted', 'A disabled template cannot be deleted')
  }
  for (const one of matching) {
    context.templates.remove(accountId, one.name, one.language)
    const isLast = context.templates.list(accountId).every(({ template }) => template.name !== name)
    if (one.status === 'APPROVED' && isLast) context.templates.history.noteDeletion(accountId, name, Date.now())
  }
  return { success: true }
}

/** The body of a call for an account, or the refusal. */
function readBody(
  context: Context,
  accountId: string,
  { headers, body, method }: FastifyRequest,
): { given: JsonObject } | Refusal {
  const refusal = checkAccount(context, accountId, headers.authorization, { method, id: accountId })
  if (refusal) return refusal
  const given = parseJsonObject(typeof body === 'string' ? body : '')
  return given ? { given } : refusals.invalidParameter('The body must be JSON.')
}

/** Replaces the handles of example files by their addresses, as the list shows them. */
function withAddresses(context: Context, { protocol, host }: FastifyRequest, components: JsonObject[]): JsonObject[] {
  const addressOf = (handle: unknown) => {
    const example = context.examples.findByHandle(String(handle))
    return example ? `${protocol}://${host}/template-examples/${example.id}` : handle
  }
  const withAddress = (component: JsonObject): JsonObject => {
    if (Array.isArray(component.cards)) {
      const cards = asObjects(component.cards).map((card) => ({
        ...card,
        components: asObjects(card.components).map(withAddress),
      }))
      return { ...component, cards }
    }
    const { header_handle: handles, ...rest } = asObject(component.example)
    return Array.isArray(handles)
      ? { ...component, example: { ...rest, header_handle: handles.map(addressOf) } }
      : component
  }
  return components.map(withAddress)
}

/** Tells the service that a template is approved. */
function report(context: Context, accountId: string, template: StoredTemplate): void {
  const [number] = numbersOf(context.numbers, accountId)
  if (!number) return
  const change = statusChange(template, { event: 'APPROVED', reason: null })
  void firstAttempt(context, number.phone_number_id, { kind: 'change', change }, true)
}
