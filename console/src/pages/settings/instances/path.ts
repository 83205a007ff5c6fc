/** The address of an instance below the API; `rest` goes on behind it. */
export function instancePath(name: string, rest = ''): string {
  return `/instances/${encodeURIComponent(name)}${rest}`
}
