/** Where this interface is mounted (contract 2). */
export const GATEWAY = '/gateway'

/** Whether a URL leads to this interface. */
export function isGatewayUrl(url: string): boolean {
  return url.startsWith(GATEWAY) && ['/', '?', undefined].includes(url[GATEWAY.length])
}

/** What is served at the gateway's own address beside it. */
const HEALTH_PATHS: readonly string[] = ['/healthz', '/readyz']

/** The URL of the route that a request means at an address of the gateway's own, where the gateway answers at the root. */
export function toMountedUrl(url: string): string {
  return isGatewayUrl(url) || HEALTH_PATHS.includes(url) ? url : `${GATEWAY}${url}`
}

/** The URL with its path freed of a slash at its end, which some clients of gateways write. URLs of others stay as they are. */
export function withoutTrailingSlash(url: string): string {
  if (!isGatewayUrl(url)) return url
  const [path = '', ...query] = url.split('?')
  return path.endsWith('/') ? [path.slice(0, -1), ...query].join('?') : url
}
