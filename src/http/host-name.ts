import type { IncomingMessage } from 'node:http'

/** The host name by which a request asks, in lower case and without the port; what a proxy says in other headers does not count. */
export function hostNameOf({ headers }: IncomingMessage): string {
  return (headers.host ?? '').toLowerCase().replace(/:\d*$/, '')
}
