/// <reference lib="es2024.string" />

const replacement = '\uFFFD'
const maxStorableDepth = 64
const maxPathLength = 200

/** A container on the way down: what it holds, the keys too if it is an object, and which child is being looked at. */
interface Frame {
  children: unknown[]
  keys: string[] | undefined
  index: number
}

/** Tells whether PostgreSQL can keep `value` as text: neither U+0000 nor a lone surrogate in it (contract 4). */
export function isStorable(value: string): boolean {
  return value.isWellFormed() && !value.includes('\0')
}

/** `value` with each U+0000 and lone surrogate replaced by U+FFFD. */
export function toStorable(value: string): string {
  return isStorable(value) ? value : value.replaceAll('\0', replacement).toWellFormed()
}

/**
 * A copy of a parsed JSON value whose strings and keys can all be stored, as by `toStorable`. At most 64 containers stand
 * inside one another: those deeper become null, so that whatever a callback holds neither we nor the database run out of
 * stack on it.
 */
export function toStorableDeep(value: unknown): unknown {
  return toStorableWithin(value, maxStorableDepth)
}

/**
 * The path (`contacts[0].name`) of the first string or key in a parsed JSON value that cannot be stored, or undefined
 * when all can. The path of the value itself is ''. Keys that are no plain names are quoted as JSON (`["a\u0000"]`), so
 * a path can always be shown; past 200 characters it is cut. Any depth of nesting is walked without recursion.
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
  // fromEntries and not assignment: a key named __proto__ stays a key.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [toStorable(key), toStorableWithin(item, depth - 1)]),
  )
}

/** Puts a container on the stack to be walked; false when `value` is a string that cannot be stored. */
function enter(value: unknown, stack: Frame[]): boolean {
  if (typeof value === 'string') return isStorable(value)
  if (Array.isArray(value)) stack.push({ children: value, keys: undefined, index: -1 })
  else if (typeof value === 'object' && value !== null) {
    stack.push({ children: Object.values(value), keys: Object.keys(value), index: -1 })
  }
  return true
}

/** The key of the child being looked at; '' in an array. */
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

/** As much of a text that somebody gave as an error shows of it. */
export function excerpt(text: string): string {
  return text.slice(0, MAX_EXCERPT_LENGTH)
}
