/** The path that this interface is mounted at. */
export const GATEWAY = '/gateway'

/** Whether a URL belongs to this interface. */
export function isGatewayUrl(url: string): boolean {
  return url.startsWith(GATEWAY) && ['/', '?', undefined].includes(url[GATEWAY.length])
}

/** Paths outside the gateway that are served at the gateway's own address too. */
const HEALTH_PATHS: readonly string[] = ['/healthz', '/readyz']

/** Maps a URL at the gateway's own address, where its paths begin at the root, to the URL of the route. */
export function toMountedUrl(url: string): string {
  return isGatewayUrl(url) || HEALTH_PATHS.includes(url) ? url : `${GATEWAY}${url}`
}

/** Removes the trailing slash that some clients add to paths of the gateway. Other URLs stay as they are. */
export function withoutTrailingSlash(url: string): string {
  if (!isGatewayUrl(url)) return url
  const [path = '', ...query] = url.split('?')
  return path.endsWith('/') ? [path.slice(0, -1), ...query].join('?') : url
}
