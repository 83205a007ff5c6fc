/** The API path of an instance, followed by `rest`. */
export function instancePath(name: string, rest = ''): string {
  return `/instances/${encodeURIComponent(name)}${rest}`
}
