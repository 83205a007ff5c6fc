import type { ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { blobKey } from '../../../src/model/messages/media.js'
import { receiveMessages, seconds, type WireMessage, wamid } from '../../interfaces/hooks/support.js'
import type { TestOrganization, World } from '../../support/world.js'
import { type HttpServer, startHttpServer, type Taken } from '../../upstream/http-server.js'

/** How a test answers one step of a fetch. */
export type Step = (response: ServerResponse, request: Taken) => void | Promise<void>

/** An upstream that has files, and fails when the test says so. */
export interface FileUpstream extends HttpServer {
  /** What it has, by media id. */
  files: Map<string, Buffer>
  /** How it answers next to the question for a file, before it answers as usual. */
  onFind: Step[]
  /** The same for the download itself. */
  onDownload: Step[]
  /** Forgets its files, what it was asked, and how it shall answer. */
  clear(): void
}

/** Starts an upstream on a free port. */
export async function startFileUpstream(): Promise<FileUpstream> {
  const files = new Map<string, Buffer>()
  const onFind: Step[] = []
  const onDownload: Step[] = []
  const server = await startHttpServer(async (request, response) => {
    const [, step, id = ''] = request.path.split(/[/?]/)
    const scripted = (step === 'download' ? onDownload : onFind).shift()
    if (scripted) await scripted(response, request)
    if (response.writableEnded || response.destroyed || response.headersSent) return
    const file = files.get(id)
    if (!file) return answerJson(response, 400, { error: { code: 100, message: '(#100) no such object' } })
    if (step === 'download') return void response.end(file)
    const url = `${server.url}/download/${id}`
    answerJson(response, 200, { messaging_product: 'whatsapp', url, id, file_size: file.length })
  })
  const clear = () => {
    files.clear()
    for (const list of [onFind, onDownload, server.taken]) list.length = 0
  }
  return { ...server, files, onFind, onDownload, clear }
}

/** Answers with JSON. */
export function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** An inbound message of the given type. */
export function fileMessage(from: string, type: string, payload: object, fields: WireMessage = {}): WireMessage {
  return { from, id: wamid(), timestamp: seconds(), type, [type]: payload, ...fields }
}

/** Receives a message with a file; resolves to its id when every job that is due has been worked off. */
export async function receiveFile(world: World, organization: TestOrganization, message: WireMessage): Promise<string> {
  await receiveMessages(world, organization, message)
  return messageIdOf(world, organization, message)
}

/** The id under which a message was recorded. */
export async function messageIdOf(world: World, organization: TestOrganization, message: WireMessage): Promise<string> {
  const { rows } = await world.database.pool.query<{ id: string }>(
    'SELECT id FROM messages WHERE organization_id = $1 AND upstream_id = $2',
    [organization.id, message.id],
  )
  if (!rows[0]) throw new Error('the message was not recorded')
  return rows[0].id
}

/** The bytes that are kept for a message; null when there are none. */
export async function storedBytes(world: World, organization: { id: string }, id: string): Promise<Buffer | null> {
  const stream = await world.app.ctx.blobs.open(blobKey(organization.id, id))
  return stream && buffer(stream)
}

/** Every file that is noted. */
export async function mediaRows(world: World) {
  const { rows } = await world.database.pool.query(
    `SELECT organization_id, id, mime_type, size::float8 AS size, filename, message_id FROM media
     ORDER BY organization_id, id`,
  )
  return rows
}

/** The jobs that wait, of one task. */
export async function jobsOf(
  world: World,
  task: string,
): Promise<{ payload: unknown; attempts: number; locked: boolean }[]> {
  const { rows } = await world.database.pool.query(
    `SELECT j.payload, j.attempts, j.locked_by IS NOT NULL AS locked FROM graphile_worker._private_jobs j
     JOIN graphile_worker._private_tasks t ON t.id = j.task_id
     WHERE t.identifier = $1 ORDER BY j.id`,
    [task],
  )
  return rows
}

/** The time of every waiting job has come, and they are worked off; `attempts`: so many tries they have behind them. */
export async function workOffLater(world: World, attempts?: number): Promise<void> {
  await world.database.pool.query(
    'UPDATE graphile_worker._private_jobs SET run_at = now(), attempts = coalesce($1, attempts)',
    [attempts ?? null],
  )
  await world.drain()
}
