import { connect } from 'node:net'

/** Sends bytes as they are to the service at `url` and resolves to everything that it answers until it hangs up. */
export function sendRaw(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.on('data', (chunk) => chunks.push(chunk))
    // A service that has answered may hang up on a client that goes on sending.
    socket.on('error', (error) => (chunks.length === 0 ? reject(error) : undefined))
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')))
  })
}

/** Status and JSON body of a raw answer. */
export function readRaw(answer: string): { status: number; body: Record<string, unknown> } {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body) }
}
