/** The values that were used last, by name. */
export interface LruCache<Value> {
  /** Undefined where it is not known, or not any more. */
  get(name: string): Value | undefined
  set(name: string, value: Value): void
}

/** Creates a cache of at most `max` values; the least recently used one goes first. */
export function createLruCache<Value>(max: number): LruCache<Value> {
  const values = new Map<string, Value>()
  function set(name: string, value: Value): void {
    values.delete(name)
    values.set(name, value)
    if (values.size > max) values.delete(values.keys().next().value as string)
  }
  return {
    get: (name) => {
      const value = values.get(name)
      if (value !== undefined) set(name, value)
      return value
    },
    set,
  }
}
