import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { isJsonObject } from '../../lib/text/json.js'

/** Fields that hold an object, which some clients write as an empty list when there is nothing in it. */
const OBJECT_FIELDS = new Set(['where', 'key', 'messageTimestamp', 'webhook', 'headers', 'lastMessage', 'options'])

/** The fields of a range of time stand so deep. */
const MAX_DEPTH = 3

/** Reads an empty list where an object belongs: as the whole body it is an empty one, as a field it is left out. */
export async function readEmptyObjects(request: FastifyRequest): Promise<void> {
  const { body } = request
  // The body of a send is still to be read.
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
