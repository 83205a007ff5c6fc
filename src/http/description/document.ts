/** The parts of an OpenAPI 3.1 document that our descriptions are built from. */
export interface Document {
  openapi: string
  tags?: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks?: Record<string, { post: Operation }>
  components: { schemas?: Record<string, Schema>; headers?: Record<string, object> }
}

export interface Operation {
  operationId: string
  tags?: string[]
  summary?: string
  description?: string
  deprecated?: boolean
  security?: object[]
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, Response>
}

export interface Parameter {
  name: string
  in: string
  schema: Schema
  example?: unknown
}

export interface Response {
  description: string
  headers?: Record<string, object>
  content?: Content
}

export type Content = Record<string, { schema: Schema; example?: unknown }>

/** A JSON Schema. */
export interface Schema {
  $ref?: string
  title?: string
  description?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  discriminator?: { propertyName: string; mapping?: Record<string, string> }
  [keyword: string]: unknown
}

/** Every operation of a document; those of its webhooks come last. */
export function operationsOf({ paths, webhooks = {} }: Pick<Document, 'paths' | 'webhooks'>): Operation[] {
  return [...Object.values(paths), ...Object.values(webhooks)].flatMap((item) => Object.values(item))
}
