import { expect, it } from 'vitest'
import { readCallback } from '../../../../src/core/callbacks/read/read-callback.js'
import { asObject, isJsonObject, type JsonObject } from '../../../../src/lib/text/json.js'
import { presentContent } from '../../../../src/model/messages/shown/present-content.js'
import { ContentSchema, KINDS } from '../../../../src/model/messages/shown/schemas.js'
import { closed, createAjv } from '../../../support/openapi.js'
import { callbackSamples, sample } from '../../../support/samples.js'

const ROUNDS = 4_000
const MAX_TEXT = 4_096
const MAX_ITEMS = 100

const ajv = createAjv()
const isDescribed = ajv.compile(closed(ContentSchema))

type Random = (limit: number) => number

/** Numbers from 0 to below `limit`, the same in every run of a seed. */
function randomOf(seed: number): Random {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

const TEXTS = [
  '',
  ' ',
  '0',
  '1e999',
  '-3.5',
  'ad',
  '😀'.repeat(5_000),
  'x'.repeat(9_000),
  '{"flow_token":7}',
  '[[[',
  'null',
]
const NUMBERS = [0, -0, 1, -1, 0.1, 1e308, -1e308, 1.5e12, 9e15]
const NAMES = ['type', 'id', 'title', 'parameters', '__proto__', 'constructor', 'currency', 'deleted_at', 'errors']

function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[random(items.length)] as Item
}

function randomJson(random: Random, depth = 4): unknown {
  switch (random(depth === 0 ? 4 : 8)) {
    case 0:
      return null
    case 1:
      return random(2) === 0
    case 2:
      return pick(random, NUMBERS)
    case 3:
      return pick(random, TEXTS)
    case 4:
      return Array.from({ length: random(4) }, () => randomJson(random, depth - 1))
    case 5:
      return Array.from({ length: 150 }, () => pick(random, TEXTS.slice(0, 5)))
    case 6:
      return nested(random(2) === 0 ? 40 : 2_000)
    default: {
      const fields = Array.from({ length: random(5) }, () => [pick(random, NAMES), randomJson(random, depth - 1)])
      return JSON.parse(`{${fields.map(([name, value]) => `"${name}":${JSON.stringify(value)}`).join(',')}}`)
    }
  }
}

function nested(levels: number): unknown {
  let value: unknown = 'deep'
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { flow_token: value }
  return value
}

/** The value with a part of it changed: replaced, left out, repeated, or turned into text. */
function mutated(random: Random, value: unknown): unknown {
  if (random(4) > 0 && Array.isArray(value) && value.length > 0) {
    const at = random(value.length)
    return value.map((item, index) => (index === at ? mutated(random, item) : item))
  }
  if (random(4) > 0 && isJsonObject(value) && Object.keys(value).length > 0) {
    const name = pick(random, Object.keys(value))
    return { ...value, [name]: mutated(random, value[name]) }
  }
  switch (random(5)) {
    case 0:
      return undefined
    case 1:
      return Array.from({ length: (JSON.stringify(value)?.length ?? 0) < 500 ? 150 : 1 }, () => value)
    case 2:
      return String(value)
    case 3:
      return typeof value === 'string' ? Number(value) : [value]
    default:
      return randomJson(random, 3)
  }
}

function requireDescribed(content: unknown, of: unknown): void {
  if (!isDescribed(content)) {
    throw new Error(`${ajv.errorsText(isDescribed.errors)}: ${JSON.stringify(content)} of ${JSON.stringify(of)}`)
  }
  requireBounded(content)
}

/** Answers of forms and unknown kinds are shown as they are. */
const WHOLE = new Set(['flow', 'raw', 'data'])

function requireBounded(value: unknown): void {
  if (typeof value === 'string' && Array.from(value).length > MAX_TEXT) throw new Error('a text is too long')
  if (Array.isArray(value) && value.length > MAX_ITEMS) throw new Error('a list is too long')
  if (typeof value !== 'object' || value === null) return
  for (const [name, part] of Object.entries(value)) if (!WHOLE.has(name)) requireBounded(part)
}

const TYPES = [...Object.keys(KINDS), 'interactive', 'voice', 'unknown', 'edit', 'hologram', 'constructor', '']
const SENDERS = ['user-chat', 'bot-chat', 'human-chat', 'system']

it('any row has content as it is described', () => {
  const random = randomOf(1)
  const kinds = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    const row = {
      message_type: pick(random, TYPES),
      sender_type: pick(random, SENDERS),
      text: pick(random, TEXTS),
      content: random(2) === 0 ? randomJson(random) : { type: pick(random, TYPES), ...asObject(randomJson(random)) },
      extras: random(3) === 0 ? undefined : randomJson(random),
      context_upstream_id: null,
    }
    const content = presentContent(row)
    requireDescribed(content, row)
    if (content) kinds.add(content.type)
  }
  expect(kinds.size).toBeGreaterThan(17)
})

it.each([1, 2, 3])('samples that were changed at random have content as it is described (%i)', (seed) => {
  const random = randomOf(seed)
  const samples = callbackSamples().map((name) => sample(name))
  let shown = 0
  for (let round = 0; round < ROUNDS; round++) {
    const body = JSON.parse(JSON.stringify(changedMessage(random, pick(random, samples))))
    for (const item of readCallback(body)) {
      if (item.kind !== 'message') continue
      const { isSystem, contextUpstreamId: context_upstream_id, ...message } = item
      const sender_type = isSystem ? 'system' : pick(random, SENDERS)
      const row = JSON.parse(JSON.stringify({ ...message, sender_type, context_upstream_id }))
      requireDescribed(presentContent(row), row)
      shown++
    }
  }
  expect(shown).toBeGreaterThan(ROUNDS / 10)
})

/** A callback with one to three changes in each of its messages. */
function changedMessage(random: Random, body: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(body), (name, value) => {
    if (name !== 'messages' || !Array.isArray(value)) return value
    return value.map((message) => {
      let changed: unknown = message
      for (let left = 1 + random(3); left > 0; left--) {
        const { id, from, ...rest } = asObject(changed)
        changed = { ...asObject(mutated(random, rest)), id, from }
      }
      return changed
    })
  })
}
