import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { S3Settings } from '../../src/blobs/settings.js'

/** An S3 server program on loopback, with one bucket. */
export interface S3Server {
  settings: S3Settings
  close(): Promise<void>
}

const program = fileURLToPath(new URL('s3-program.mjs', import.meta.url))

/** Starts the server as a process; its objects are lost when it is closed. */
export async function startS3Server(): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-s3-'))
  const server = fork(program, [folder], { execArgv: [] })
  const ended = once(server, 'exit')
  return {
    settings: {
      bucket: 'media',
      prefix: 'some/prefix',
      endpoint: await endpointOf(server),
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

/** The program's only output is its URL. */
async function endpointOf(server: ChildProcess): Promise<string> {
  const started = once(server, 'message').then(([endpoint]) => String(endpoint))
  const ended = once(server, 'exit').then(([code]) => {
    throw new Error(`the S3 server did not start: it ended with ${code}`)
  })
  return Promise.race([started, ended])
}
