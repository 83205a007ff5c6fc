import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createClient } from '@hey-api/openapi-ts'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useWorld } from '../../support/world.js'

/** Programs that use the clients as a customer would. They print nothing: what they return is compared. */
const PROGRAMS = {
  // openapi-typescript makes types only.
  'use-types.ts': `
import type { components, operations } from './api-types.js'
import type { operations as adminOperations } from './admin-types.js'
import type { operations as gatewayOperations } from './gateway-types.js'

type Sent = operations['messages.send']
type Message = Sent['requestBody']['content']['application/json']
type Refusal = components['schemas']['Error']['error']

export type Text = gatewayOperations['message.sendText']['responses'][201]['content']['application/json']
export type Organization = adminOperations['organizations.get']['responses'][200]['content']['application/json']['organization']

export async function send(url: string, key: string, message: Message): Promise<string> {
  const headers = { authorization: \`Bearer \${key}\`, 'content-type': 'application/json' }
  const response = await fetch(\`\${url}/send-chat\`, { method: 'POST', headers, body: JSON.stringify(message) })
  if (!response.ok) {
    const refused = (await response.json()) as Sent['responses'][400]['content']['application/json']
    const name: Refusal = refused.error
    return name
  }
  const { data } = (await response.json()) as Sent['responses'][200]['content']['application/json']
  return data.recipient
}

/** A switch over all kinds of events: one that is missing does not compile. */
export function subjectOf(event: components['schemas']['Event']): string {
  switch (event.type) {
    case 'message.received':
    case 'message.sent':
    case 'message.delivered':
    case 'message.read':
    case 'message.failed':
    case 'message.reaction':
    case 'message.edited':
    case 'message.deleted':
    case 'conversation.handed_over':
    case 'group.updated':
    case 'call.missed':
    case 'call.ended':
      return event.data.message.id
    case 'message.scheduled':
      return event.data.scheduled.id
    case 'contact.created':
    case 'contact.updated':
    case 'contact.opted_out':
    case 'contact.opted_in':
      return event.data.contact.id
    case 'contact.merged':
      return event.data.merged_contact_id
    case 'contact.unmerged':
      return event.data.kept_contact_id
    case 'broadcast.started':
    case 'broadcast.completed':
      return event.data.broadcast.id
    case 'account.updated':
      return event.data.notice.id
    case 'history.imported':
      return event.data.history.id
    case 'template.status_changed':
    case 'template.updated':
    case 'template.quality_changed':
      return event.data.template.name
    case 'number.updated':
      return event.data.number?.phone_number_id ?? event.data.notice?.id ?? ''
    case 'webhook.disabled':
    case 'webhook.test':
      return event.data.webhook.id
  }
}
`,
  'use-sdk.ts': `
import { createClient } from './api/client/index.js'
import * as api from './api/index.js'
import { createClient as createAdminClient } from './admin/client/index.js'
import * as admin from './admin/index.js'
import { createClient as createGatewayClient } from './gateway/client/index.js'
import * as gateway from './gateway/index.js'

export async function useApi(baseUrl: string, auth: string, number: string) {
  const client = createClient({ baseUrl, auth })
  const created = await api.contactsCreate({ client, body: { phone_number: number, tags: ['vip'] } })
  const sent = await api.messagesSend({
    client,
    body: { phone_number: number, message_type: 'text', text: 'Hello' },
    headers: { 'Idempotency-Key': 'clients' },
  })
  const uploaded = await api.messagesUploadMedia({ client, body: { file: new Blob(['%PDF-1.7']) } })
  const missing = await api.contactsGet({ client, query: { phone_number: '5511900009999' } })
  const events = await api.eventsList({ client })
  const kinds: string[] = events.data?.events.map((event) => event.type) ?? []
  return {
    tags: created.data?.contact.tags,
    type: sent.data && 'data' in sent.data ? sent.data.data.message_type : undefined,
    file: uploaded.data?.media.mime_type,
    error: missing.error?.error,
    requestId: typeof missing.response?.headers.get('x-request-id'),
    kinds,
  }
}

export async function useGateway(baseUrl: string, auth: string, number: string) {
  const client = createGatewayClient({ baseUrl, auth })
  const created = await gateway.instanceCreate({
    client,
    body: { instanceName: 'shop', integration: 'WHATSAPP-BUSINESS' },
  })
  const sent = await gateway.messageSendText({ client, path: { instance: 'shop' }, body: { number, text: 'Hello' } })
  return { name: created.data?.instance.instanceName, status: sent.data?.status, type: sent.data?.messageType }
}

export async function useAdmin(baseUrl: string, auth: string, id: string) {
  const client = createAdminClient({ baseUrl, auth })
  const { data } = await admin.organizationsGet({ client, path: { id } })
  const link = await admin.membersCreateSignInLink({ client, path: { id } })
  return { id: data?.organization.id, error: link.error?.error }
}
`,
}

const INTERFACES = { api: '/openapi.json', gateway: '/gateway/openapi.json', admin: '/docs/admin.json' }

const world = useWorld()
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-clients-'))
  await writeFile(join(folder, 'package.json'), '{"type": "module"}')
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { module: 'NodeNext' } }))
  for (const [name, text] of Object.entries(PROGRAMS)) await writeFile(join(folder, name), text)
  for (const [name, path] of Object.entries(INTERFACES)) {
    const { body } = await world.request('GET', path)
    await writeFile(join(folder, `${name}-types.ts`), astToString(await openapiTS(structuredClone(body))))
    await createClient({
      input: structuredClone(body),
      output: { path: join(folder, name), tsConfigPath: join(folder, 'tsconfig.json') },
      plugins: ['@hey-api/client-fetch', '@hey-api/sdk', '@hey-api/typescript'],
      logs: { level: 'silent' },
    })
  }
})

afterAll(() => rm(folder, { recursive: true }))

/** What the compiler says in strict mode; the programs are emitted beside their sources. */
function compile(): string[] {
  const program = ts.createProgram(
    Object.keys(PROGRAMS).map((name) => join(folder, name)),
    {
      strict: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ES2023,
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      types: [],
    },
  )
  const { diagnostics } = program.emit()
  return [...ts.getPreEmitDiagnostics(program), ...diagnostics].map(
    ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
  )
}

it('clients that are generated from the descriptions compile strictly and work', async () => {
  expect(compile()).toEqual([])
  const organization = await world.createOrganization()
  const load = (name: string) => import(pathToFileURL(join(folder, name)).href)
  const url = world.app.url

  const sdk = await load('use-sdk.js')
  expect(await sdk.useApi(url, organization.key, '+5511900001234')).toEqual({
    tags: ['vip'],
    type: 'text',
    file: 'application/pdf',
    error: 'Contact not found',
    requestId: 'string',
    kinds: ['contact.created', 'message.sent'],
  })
  expect(await sdk.useGateway(url, organization.key, '5511900001234')).toEqual({
    name: 'shop',
    status: 201,
    type: 'conversation',
  })
  expect(await sdk.useAdmin(url, world.adminToken, organization.id)).toEqual({
    id: organization.id,
    error: 'Member not found',
  })

  const types = await load('use-types.js')
  await world.request('POST', '/contact', { key: organization.key, body: { phone_number: '+5511900005678' } })
  const send = (fields: object) => types.send(url, organization.key, { phone_number: '+5511900005678', ...fields })
  expect(await send({ message_type: 'text', text: 'Hello' })).toBe('5511900005678')
  expect(await send({ message_type: 'fax' })).toBe('Invalid message type')
})
