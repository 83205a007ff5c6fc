import { afterAll, beforeAll } from 'vitest'

/**
 * Starts something before the tests of this file or `describe`, and closes it after them. What it returns stands for
 * the started object from then on, and throws if it is used earlier. What is started first is closed last.
 */
export function useStarted<Started extends { close(): unknown }>(start: () => Promise<Started>): Started
export function useStarted<Started extends object>(
  start: () => Promise<Started>,
  close: (started: Started) => unknown,
): Started
export function useStarted<Started extends object>(
  start: () => Promise<Started>,
  close = (one: Started) => (one as Started & { close(): unknown }).close(),
): Started {
  let started: Started | undefined
  beforeAll(async () => {
    started = await start()
  })
  afterAll(async () => {
    if (started !== undefined) await close(started)
  })
  return standIn(() => {
    if (started === undefined) throw new Error('this is used before beforeAll has started it')
    return started
  })
}

/** An object whose properties are those of `current()`. */
function standIn<Value extends object>(current: () => Value): Value {
  return new Proxy({} as Value, {
    get: (_, property) => Reflect.get(current(), property),
    set: (_, property, value) => Reflect.set(current(), property, value),
    has: (_, property) => Reflect.has(current(), property),
    ownKeys: () => Reflect.ownKeys(current()),
    getOwnPropertyDescriptor: (_, property) => Reflect.getOwnPropertyDescriptor(current(), property),
  })
}
