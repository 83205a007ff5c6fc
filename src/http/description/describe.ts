import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { addAnswerHeaders } from './answer-headers.js'
import { type Document, type Operation, operationsOf, type Schema } from './document.js'
import { addExamples, readExamples } from './examples.js'
import { nameSchemas } from './name-schemas.js'

/** What a description says besides its routes. */
export interface DescriptionParts {
  title: string
  description: string
  /** By the first part of the operationIds: `contacts` of contacts.get. */
  tags: Readonly<Record<string, { name: string; description: string }>>
  securitySchemes: NonNullable<NonNullable<FastifyDynamicSwaggerOptions['openapi']>['components']>['securitySchemes']
  security: Record<string, string[]>[]
  /** Whether the requests of a key are counted. */
  limited: boolean
  transform: NonNullable<FastifyDynamicSwaggerOptions['transform']>
  webhooks?: readonly WebhookParts[]
  /** The name of the file with the recorded examples. */
  examples: string
}

/** One kind of request that the service makes to endpoints of its users. */
export interface WebhookParts {
  /** Such as message.received. */
  kind: string
  operationId: string
  summary: string
  body: object
}

/** The name that schemas and operations have for a kind: `MessageReceived` of message.received. */
export function nameOfKind(kind: string): string {
  return kind.replace(/(?:^|[._])([a-z])/g, (_match, letter: string) => letter.toUpperCase())
}

/** Every description has this version. */
export const DESCRIPTION_VERSION = '1.0.0'

/** The options of @fastify/swagger by which an interface is described: OpenAPI 3.1.0. */
export function describeInterface(parts: DescriptionParts): Omit<FastifyDynamicSwaggerOptions, 'decorator'> {
  const { title, description, tags, securitySchemes, security, transform } = parts
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title,
        version: DESCRIPTION_VERSION,
        description,
        license: { name: 'MIT', identifier: 'MIT' } as { name: string },
      },
      // Every address of the service has the same paths.
      servers: [{ url: '/', description: 'This service' }],
      tags: Object.values(tags),
      components: { securitySchemes },
      security,
    },
    convertConstToEnum: false,
    transform,
    transformObject: (made) => {
      const document = 'openapiObject' in made ? (made.openapiObject as unknown as Document) : null
      if (document) finish(document, parts)
      return document as object
    },
  }
}

function finish(document: Document, { tags, limited, webhooks, examples }: DescriptionParts): void {
  const recorded = readExamples(examples)
  nameOperations(document)
  if (webhooks) document.webhooks = Object.fromEntries(webhooks.map(describeWebhook))
  for (const operation of operationsOf(document)) {
    const [area = ''] = operation.operationId.split('.')
    const tag = tags[area]
    if (!tag) throw new Error(`no tag for ${operation.operationId}`)
    operation.tags = [tag.name]
    // The second methods of a route, which have longer ids, share the examples of the first.
    const method = operation.operationId.split('.').slice(0, 2).join('.')
    addExamples(operation, recorded[method] ?? [])
  }
  addAnswerHeaders(document, limited)
  nameSchemas(document)
}

/**
 * Routes of several methods have one id: the first method keeps it, and the others, which older clients use, add
 * theirs.
 */
function nameOperations({ paths }: Document): void {
  const order = ['post', 'get', 'put', 'patch', 'delete']
  const taken = new Set<string>()
  for (const [path, item] of Object.entries(paths)) {
    for (const method of Object.keys(item).sort((a, b) => order.indexOf(a) - order.indexOf(b))) {
      const operation = item[method] as Operation
      const { operationId } = operation
      if (!operationId) throw new Error(`${method} ${path} has no operationId`)
      if (!taken.has(operationId)) taken.add(operationId)
      else item[method] = { ...operation, operationId: `${operationId}.${method}`, deprecated: true }
    }
  }
}

function describeWebhook({ kind, operationId, summary, body }: WebhookParts): [string, { post: Operation }] {
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  })
  return [
    kind,
    {
      post: {
        operationId,
        summary,
        security: [],
        parameters: [
          header('webhook-id', 'The id of the event: the same at every attempt, and in every replay'),
          header('webhook-timestamp', 'When the attempt was signed, in Unix seconds'),
          header('webhook-signature', 'One or more signatures by Standard Webhooks 1.0, separated by spaces'),
        ],
        requestBody: { required: true, content: { 'application/json': { schema: body as Schema } } },
        responses: {
          '2XX': { description: 'The event is delivered. Any other answer counts as a failure and is tried again.' },
        },
      },
    },
  ]
}
