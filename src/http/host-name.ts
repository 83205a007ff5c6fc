import type { IncomingMessage } from 'node:http'

/** The host name of a request, in lower case and without the port; headers of proxies are ignored. */
export function hostNameOf({ headers }: IncomingMessage): string {
  return (headers.host ?? '').toLowerCase().replace(/:\d*$/, '')
}
