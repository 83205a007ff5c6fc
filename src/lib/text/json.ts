/** A parsed JSON object with unchecked fields. */
export type JsonObject = Record<string, unknown>

/** True for an object that is neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The JSON object in a text; null if it is not one. */
export function parseJsonObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}

/** The value if it is an object, otherwise an empty object. */
export function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** The objects of an array; other items are left out. */
export function asObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** The value if it is a non-empty string, otherwise null. */
export function asText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** True if containers are nested deeper than `limit`, which also limits the recursion. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (limit < 0) return true
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, limit - 1))
  for (const key in value) if (isDeeperThan((value as JsonObject)[key], limit - 1)) return true
  return false
}

/** A text that is the same for equal values: keys sorted, no white space. For values of checked depth. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`)
  return `{${fields.join(',')}}`
}
