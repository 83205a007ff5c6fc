/// <reference lib="es2024.string" />

const replacement = '\uFFFD'
/** How deep containers may nest to be stored. */
export const maxStorableDepth = 64
const maxPathLength = 200

/** A container on the way down: its content, its keys if it is an object, and the current child. */
interface Frame {
  children: unknown[]
  keys: string[] | undefined
  index: number
}

/** True if PostgreSQL can store `value` as text: it contains neither U+0000 nor a lone surrogate. */
export function isStorable(value: string): boolean {
  return value.isWellFormed() && !value.includes('\0')
}

/** Replaces each U+0000 and lone surrogate by U+FFFD. */
export function toStorable(value: string): string {
  return isStorable(value) ? value : value.replaceAll('\0', replacement).toWellFormed()
}

/** The first `length` UTF-16 units of a storable text, which can be stored too: half of a character at the end is replaced. */
export function beginningOf(value: string, length: number): string {
  return value.slice(0, length).toWellFormed()
}

/**
 * A copy of a parsed JSON value in which all strings and keys are storable. Containers below the 64th level become
 * null, so that no stack overflows here or in the database.
 */
export function toStorableDeep(value: unknown): unknown {
  return toStorableWithin(value, maxStorableDepth)
}

/**
 * The path (`contacts[0].name`) of the first string or key that cannot be stored; undefined if all can. The value
 * itself has the path ''. Unusual keys are quoted as JSON (`["a\u0000"]`), so the path can always be shown; it is cut
 * after 200 characters. Works for any depth without recursion.
 */
export function firstUnstorable(value: unknown): string | undefined {
  const stack: Frame[] = []
  if (!enter(value, stack)) return ''
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    frame.index++
    if (frame.index === frame.children.length) stack.pop()
    else if (!isStorable(keyOf(frame)) || !enter(frame.children[frame.index], stack)) return pathOf(stack)
  }
  return undefined
}

function toStorableWithin(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return toStorable(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return null
  if (Array.isArray(value)) return value.map((item) => toStorableWithin(item, depth - 1))
  // fromEntries instead of assignment, so that a key named __proto__ stays a key.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [toStorable(key), toStorableWithin(item, depth - 1)]),
  )
}

/** Pushes a container on the stack; false if `value` is a string that cannot be stored. */
function enter(value: unknown, stack: Frame[]): boolean {
  if (typeof value === 'string') return isStorable(value)
  if (Array.isArray(value)) stack.push({ children: value, keys: undefined, index: -1 })
  else if (typeof value === 'object' && value !== null) {
    stack.push({ children: Object.values(value), keys: Object.keys(value), index: -1 })
  }
  return true
}

/** The key of the current child; '' in an array. */
function keyOf({ keys, index }: Frame): string {
  return keys?.[index] ?? ''
}

function pathOf(stack: readonly Frame[]): string {
  let path = ''
  for (const frame of stack) {
    path += frame.keys === undefined ? `[${frame.index}]` : keySegment(keyOf(frame), path === '')
    if (path.length > maxPathLength) return `${path.slice(0, maxPathLength).toWellFormed()}…`
  }
  return path
}

function keySegment(key: string, isFirst: boolean): string {
  if (!/^[A-Za-z_$][\w$-]*$/.test(key)) return `[${JSON.stringify(key)}]`
  return isFirst ? key : `.${key}`
}

const MAX_EXCERPT_LENGTH = 64

/** The beginning of a client's text, for errors. */
export function excerpt(text: string): string {
  return text.slice(0, MAX_EXCERPT_LENGTH)
}
