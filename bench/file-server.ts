import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'

/** Serves files of any size from memory, in the process of the load generator. */
export interface FileServer {
  /** The URL of a file of that size. */
  urlOf(kind: FileKind, bytes: number): string
  close(): Promise<void>
}

export type FileKind = keyof typeof HEADS

/** The first bytes that identify each kind; filler follows. */
const HEADS = {
  pdf: Buffer.from('%PDF-1.4\n'),
  jpg: Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
}
const FILLER = Buffer.alloc(65_536, '\n')

/** Starts a server on a free port of this machine. */
export async function startFileServer(): Promise<FileServer> {
  const server = createServer(({ url = '' }, response) => {
    const [bytes = '', kind = ''] = url.slice(1).split('.')
    response.writeHead(200, { 'content-length': bytes })
    Readable.from(contentOf(kind as FileKind, Number(bytes))).pipe(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    urlOf: (kind, bytes) => `http://127.0.0.1:${port}/${bytes}.${kind}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function* contentOf(kind: FileKind, bytes: number): Generator<Buffer> {
  const head = HEADS[kind]
  yield head
  for (let left = bytes - head.length; left > 0; left -= FILLER.length) yield FILLER.subarray(0, left)
}
