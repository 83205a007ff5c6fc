import { connect } from 'node:net'

/** Sends raw bytes to the service at `url` and resolves to its answer up to the end of the connection. */
export function sendRaw(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.on('data', (chunk) => chunks.push(chunk))
    // After its answer the service may close the connection while the client still sends.
    socket.on('error', (error) => (chunks.length === 0 ? reject(error) : undefined))
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')))
  })
}

/** Status and JSON body of a raw answer. */
export function readRaw(answer: string): { status: number; body: Record<string, unknown> } {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body) }
}
