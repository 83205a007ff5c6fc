import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { isJsonObject } from '../../lib/text/json.js'

/** Fields that hold an object. Some clients send an empty one as `[]`, since PHP encodes empty arrays this way. */
const OBJECT_FIELDS = new Set(['where', 'key', 'messageTimestamp', 'webhook', 'headers', 'lastMessage', 'options'])

/** The depth of `where.messageTimestamp`, the innermost of these fields. */
const MAX_DEPTH = 3

/** Accepts `[]` in place of an object: as the whole body it becomes `{}`, as a field it is removed. */
export async function readEmptyObjects(request: FastifyRequest): Promise<void> {
  const { body } = request
  // The body of a send is a stream here, read later.
  if (body instanceof Readable) return
  request.body = isEmptyList(body) ? {} : withoutEmptyLists(body)
}

function withoutEmptyLists(value: unknown, levels = MAX_DEPTH): unknown {
  if (levels === 0 || !isJsonObject(value)) return value
  const given = Object.entries(value).filter(([name, item]) => !(OBJECT_FIELDS.has(name) && isEmptyList(item)))
  return Object.fromEntries(
    given.map(([name, item]) => [name, OBJECT_FIELDS.has(name) ? withoutEmptyLists(item, levels - 1) : item]),
  )
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}
