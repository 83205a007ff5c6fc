import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { S3Settings } from '../../src/blobs/settings.js'

/** An S3 server program on loopback, with one bucket. */
export interface S3Server {
  settings: S3Settings
  close(): Promise<void>
}

const program = createRequire(import.meta.url).resolve('s3rver/bin/s3rver.js')

/** Starts the server in a process of its own; its objects are gone when it is closed. */
export async function startS3Server(): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-s3-'))
  const options = ['--address', '127.0.0.1', '--port', '0', '--directory', folder]
  const server = spawn(process.execPath, [program, ...options, '--silent', '--configure-bucket', 'media'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(server, 'exit')
  return {
    settings: {
      bucket: 'media',
      prefix: 'some/prefix',
      endpoint: `http://${await addressOf(server)}`,
      region: 'us-east-1',
      accessKey: 'S3RVER',
      secretKey: 'S3RVER',
    },
    close: async () => {
      server.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The program says on standard output where it listens. */
async function addressOf({ stdout }: ChildProcess): Promise<string> {
  let output = ''
  for await (const chunk of stdout ?? []) {
    output += chunk
    const address = /listening on (\S+)\n/.exec(output)?.[1]
    if (address !== undefined) return address
  }
  throw new Error(`the S3 server did not start: ${output}`)
}
