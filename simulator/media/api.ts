import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { checkToken } from '../authorization.js'
import type { Context } from '../context.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { refuse } from '../errors/refuse.js'
import type { MediaContent, MediaFile } from './store.js'
import { handleUpload } from './upload.js'

type UploadRoute = { Params: { phoneNumberId: string } }
/** A request for an object by its id. */
export interface ObjectRoute {
  Params: { id: string }
  Querystring: { phone_number_id?: string; fields?: string | string[] }
}
type LinkRoute = { Params: { mediaId: string }; Querystring: { expires?: string; signature?: string } }

/** The upstream's endpoints to upload, download and delete media; see also describeMedia. */
export function mediaApi(app: FastifyInstance, context: Context): void {
  app.addContentTypeParser('multipart/form-data', (_request, payload, done) => done(null, payload))

  app.post<UploadRoute>('/:version(^v\\d+\\.\\d+$)/:phoneNumberId/media', (request, reply) =>
    upload(context, request, reply),
  )
  app.delete<ObjectRoute>('/:version(^v\\d+\\.\\d+$)/:id', (request, reply) => remove(context, request, reply))
  app.get<LinkRoute>('/attachments/:mediaId', { exposeHeadRoute: false }, (request, reply) =>
    download(context, request, reply),
  )
}

async function upload(
  context: Context,
  { params, headers, body }: FastifyRequest<UploadRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  // A body of another type was read as text and contains no form.
  const form = body instanceof Readable ? body : Readable.from([])
  const outcome = await handleUpload(context, {
    phoneNumberId: params.phoneNumberId,
    authorization: headers.authorization,
    contentType: headers['content-type'] ?? '',
    body: form,
  })
  // Reads the rest of the form, so that a client that is still sending receives the refusal.
  form.resume()
  return outcome.kind === 'refused' ? refuse(reply, outcome.refusal) : reply.send({ id: outcome.mediaId })
}

/** Returns the description of a media object, with its download URL. */
export function describeMedia(
  context: Context,
  request: FastifyRequest<ObjectRoute>,
  reply: FastifyReply,
): FastifyReply {
  const mediaFile = findMedia(context, request)
  if ('status' in mediaFile) return refuse(reply, mediaFile)
  const { id, mimeType, sha256, size } = mediaFile
  if (context.magicMedia.failsNow(id)) return refuse(reply, refusals.unavailable())
  const url = `${request.protocol}://${request.host}${context.mediaLinks.pathOf(id, Date.now())}`
  return reply.send({ messaging_product: 'whatsapp', url, mime_type: mimeType, sha256, file_size: size, id })
}

async function remove(
  context: Context,
  request: FastifyRequest<ObjectRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const mediaFile = findMedia(context, request)
  if ('status' in mediaFile) return refuse(reply, mediaFile)
  await context.media.remove(mediaFile)
  return reply.send({ success: true })
}

/** Finds the media object of a request, if the token may read it. */
function findMedia(
  context: Context,
  { method, params: { id }, query, headers: { authorization } }: FastifyRequest<ObjectRoute>,
): MediaFile | Refusal {
  if (authorization === undefined) return refusals.noToken()
  const mediaFile = context.media.find(id)
  const phoneNumberId = query.phone_number_id
  if (!mediaFile || (phoneNumberId !== undefined && !mediaFile.readers.has(phoneNumberId)))
    return refusals.unknownObject(method, id)
  return checkReader(context, mediaFile, authorization) ?? mediaFile
}

function checkReader(context: Context, { readers }: MediaFile, authorization: string | undefined): Refusal | null {
  return checkToken(
    authorization,
    Array.from(readers, (phoneNumberId) => context.numbers.get(phoneNumberId)),
  )
}

function download(
  context: Context,
  { params: { mediaId }, query, headers }: FastifyRequest<LinkRoute>,
  reply: FastifyReply,
): FastifyReply | Promise<FastifyReply> {
  const { expires = '', signature = '' } = query
  const mediaFile = context.media.find(mediaId)
  if (!mediaFile?.content || !context.mediaLinks.isValid(mediaId, expires, signature, Date.now())) {
    return refuse(reply, refusals.expiredLink())
  }
  const refusal = checkReader(context, mediaFile, headers.authorization)
  if (refusal) return refuse(reply, refusal)
  if (context.magicMedia.breaksOffNow(mediaId)) return sendHalf(mediaFile, mediaFile.content, reply)
  return reply
    .header('content-type', mediaFile.mimeType)
    .header('content-length', mediaFile.size)
    .send(bytesOf(mediaFile.content, mediaFile.size))
}

/** Announces the full length, sends the first half, and closes the connection. */
async function sendHalf(
  { mimeType, size }: MediaFile,
  content: NonNullable<MediaContent>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': mimeType, 'content-length': size })
  for await (const chunk of bytesOf(content, Math.ceil(size / 2))) {
    await new Promise((resolve) => reply.raw.write(chunk, resolve))
  }
  reply.raw.destroy()
  return reply
}

/** The first `count` bytes; at least 1. */
function bytesOf(content: NonNullable<MediaContent>, count: number): Readable {
  if ('path' in content) return createReadStream(content.path, { end: count - 1 })
  return Readable.from([content.bytes.subarray(0, count)], { objectMode: false })
}
