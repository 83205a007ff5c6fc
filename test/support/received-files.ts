import type { ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { blobKey } from '../../src/model/messages/media.js'
import { receiveMessages, seconds, type WireMessage, wamid } from './callbacks.js'
import { type HttpServer, startHttpServer, type Taken } from './http-server.js'
import { messageIdOf } from './rows/messages.js'
import type { TestOrganization, World } from './world.js'

/** How a test answers one step of a fetch. */
export type Step = (response: ServerResponse, request: Taken) => void | Promise<void>

/** An upstream with files, which fails when the test says so. */
export interface FileUpstream extends HttpServer {
  /** Its files, by media id. */
  files: Map<string, Buffer>
  /** Its next answers to a look-up of a file, before the usual one. */
  onFind: Step[]
  /** Its next answers to a download. */
  onDownload: Step[]
  /** Resets its files, requests and answers. */
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

/** Receives a message with a file; resolves to its id once every due job has run. */
export async function receiveFile(world: World, organization: TestOrganization, message: WireMessage): Promise<string> {
  await receiveMessages(world, organization, message)
  return messageIdOf(world, String(message.id))
}

/** The stored bytes of a message; null if there are none. */
export async function storedBytes(world: World, organization: { id: string }, id: string): Promise<Buffer | null> {
  const stream = await world.app.ctx.blobs.open(blobKey(organization.id, id))
  return stream && buffer(stream)
}
