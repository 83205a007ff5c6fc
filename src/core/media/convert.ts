import { open, stat } from 'node:fs/promises'
import type { Context } from '../../context.js'
import { type Conversion, type ConversionOptions, convertFile } from '../../lib/files/ffmpeg.js'
import { detectFileType } from '../../lib/files/file-type.js'
import { readAt } from '../../lib/files/read-at.js'
import { isAnimatedWebp, WEBP_HEAD } from '../../lib/files/webp.js'
import { sizeText } from '../../lib/text/units.js'
import type { FileSource } from '../../model/messages/content.js'
import { LIMITS } from '../../model/messages/limits.js'
import { MEDIA_RULES } from '../../model/messages/media.js'
import { Problem } from '../../model/problem.js'
import { fetchFile } from './fetch-file.js'

/** The conversion of a file before it is sent; null: none. */
export type FileConversion =
  /** A voice note (OGG with Opus, mono). `encoding`: false sends the file unchanged, true insists on a voice note. */
  | { kind: 'voice'; encoding: boolean | null }
  /** A sticker (WebP, 512 x 512). */
  | { kind: 'sticker' }

/** A file that is ready to be sent. */
export interface Prepared {
  file: { path: string }
  /** Whether it is a voice note. */
  voice: boolean
}

/** The field that named the file, for error messages. */
interface FileField {
  organizationId: string
  field: string
}

/** A file that a client gives, and what it is converted to. */
interface GivenFile extends FileField {
  source: FileSource
  conversion: FileConversion
}

const CONVERSION_TIMEOUT_MS = 60_000
/** Maximum size of a picture that is converted to a sticker. */
const MAX_PICTURE_BYTES = MEDIA_RULES.image.maxBytes
/** Each conversion is a process that uses a full processor. One organization has at most half of them. */
export const CONVERSIONS = { places: 4, ofOneKey: 2 }
const INSTALL = 'install ffmpeg where the service runs'

/** Formats that contain all their data. A playlist could make ffmpeg read other files. */
const SOUND_FORMATS = [
  'aac',
  'ac3',
  'aiff',
  'amr',
  'asf',
  'au',
  'caf',
  'flac',
  'flv',
  'matroska',
  'mov',
  'mp3',
  'mpeg',
  'ogg',
  'wav',
  'w64',
]
const PICTURE_FORMATS = ['bmp_pipe', 'gif', 'jpeg_pipe', 'png_pipe', 'apng', 'tiff_pipe', 'webp_pipe']

const VOICE = ['-vn', '-ac', '1', '-ar', '48000', '-c:a', 'libopus', '-b:a', '32k', '-application', 'voip', '-f', 'ogg']
const FIT =
  'scale=512:512:force_original_aspect_ratio=decrease,format=rgba,pad=512:512:(ow-iw)/2:(oh-ih)/2:color=#00000000'
/** A small file may decompress to gigabytes of pixels. */
const PICTURE = ['-max_pixels', '50000000']
const STICKER = ['-an', '-vf', FIT, '-frames:v', '1', '-c:v', 'libwebp', '-quality', '75', '-f', 'webp']

/**
 * Converts a file for sending and passes it to `work`; the converted file is removed when the work ends. A file given
 * by URL counts as one of the organization's uploads in progress until then. Throws invalid_media, too_many_requests,
 * and not_supported if ffmpeg is needed and missing.
 */
export function withPrepared<Result>(
  ctx: Context,
  given: GivenFile,
  work: (prepared: Prepared) => Promise<Result>,
): Promise<Result> {
  const { organizationId, field, source, conversion } = given
  if ('path' in source) return prepare(ctx, given, source.path, work)
  return ctx.limits.sentFiles.pass(organizationId, () =>
    ctx.spool.use(async (path) => {
      await fetchFile(ctx, { organizationId, field, source }, path, maxBytesOf(conversion))
      return prepare(ctx, given, path, work)
    }),
  )
}

function prepare<Result>(
  ctx: Context,
  given: GivenFile,
  path: string,
  work: (prepared: Prepared) => Promise<Result>,
): Promise<Result> {
  const { conversion } = given
  return conversion.kind === 'voice'
    ? prepareVoice(ctx, { ...given, encoding: conversion.encoding }, path, work)
    : prepareSticker(ctx, given, path, work)
}

async function prepareVoice<Result>(
  ctx: Context,
  named: FileField & { encoding: boolean | null },
  path: string,
  work: (prepared: Prepared) => Promise<Result>,
): Promise<Result> {
  const { organizationId, encoding } = named
  await checkSize(named, path, MEDIA_RULES.audio.maxBytes)
  const isVoice = await isVoiceNote(path)
  if (isVoice || encoding === false) return work({ file: { path }, voice: isVoice })
  return ctx.spool.use(async (target) => {
    const { maxBytes } = MEDIA_RULES.audio
    const how = { formats: SOUND_FORMATS, output: VOICE, maxBytes }
    const converted = await convert(ctx, organizationId, { path, target }, how)
    if (converted.outcome === 'missing' && encoding === null) return work({ file: { path }, voice: false })
    requireConverted(named, converted, `${INSTALL}, send OGG with Opus of one channel, or send it unchanged as a sound`)
    await checkSize(named, target, maxBytes)
    return work({ file: { path: target }, voice: true })
  })
}

async function prepareSticker<Result>(
  ctx: Context,
  named: FileField,
  path: string,
  work: (prepared: Prepared) => Promise<Result>,
): Promise<Result> {
  await checkSize(named, path, MAX_PICTURE_BYTES)
  if (await isSticker(path)) return work({ file: { path }, voice: false })
  const maxBytes = LIMITS.staticSticker
  return ctx.spool.use(async (target) => {
    const how = { formats: PICTURE_FORMATS, input: PICTURE, output: STICKER, maxBytes }
    const converted = await convert(ctx, named.organizationId, { path, target }, how)
    requireConverted(named, converted, `${INSTALL}, or send WebP of at most ${sizeText(maxBytes)}`)
    await checkSize(named, target, maxBytes)
    return work({ file: { path: target }, voice: false })
  })
}

function convert(
  { limits: { conversions } }: Context,
  organizationId: string,
  { path, target }: { path: string; target: string },
  how: Omit<ConversionOptions, 'timeoutMs'>,
): Promise<Conversion> {
  // Output of exactly the limit may be truncated, so the limit is one byte higher.
  const limits = { maxBytes: how.maxBytes + 1, timeoutMs: CONVERSION_TIMEOUT_MS }
  return conversions.run(organizationId, () => convertFile(path, target, { ...how, ...limits }))
}

function requireConverted(named: FileField, converted: Conversion, remedy: string): void {
  switch (converted.outcome) {
    case 'missing':
      throw new Problem('not_supported', `${named.field} must be converted, which needs ffmpeg: ${remedy}`)
    case 'failed':
      throw unusable(named, `it could not be converted: ${converted.text}`, 'not_convertible')
    case 'converted':
      return
  }
}

function maxBytesOf({ kind }: FileConversion): number {
  return kind === 'voice' ? MEDIA_RULES.audio.maxBytes : MAX_PICTURE_BYTES
}

async function checkSize(named: FileField, path: string, maxBytes: number): Promise<void> {
  const { size } = await stat(path)
  if (size === 0) throw unusable(named, 'it is empty', 'empty')
  if (size > maxBytes) {
    throw unusable(named, `it has ${size} bytes, and may have ${sizeText(maxBytes)} at most`, 'too_big')
  }
}

function unusable({ field }: FileField, why: string, reason: string): Problem {
  return new Problem('invalid_media', `${field} cannot be used: ${why}`, { reason })
}

/** Whether the file is OGG with Opus as its first packet, whose head names one channel. */
async function isVoiceNote(path: string): Promise<boolean> {
  const head = await readHead(path, 38)
  return head.toString('latin1', 0, 4) === 'OggS' && head.toString('latin1', 28, 36) === 'OpusHead' && head[37] === 1
}

/** Whether the file is WebP that is small enough: it may be larger if it is animated. */
async function isSticker(path: string): Promise<boolean> {
  if ((await detectFileType(path)) !== 'image/webp') return false
  const isAnimated = isAnimatedWebp(await readHead(path, WEBP_HEAD))
  const { size } = await stat(path)
  return size <= (isAnimated ? MEDIA_RULES.sticker.maxBytes : LIMITS.staticSticker)
}

async function readHead(path: string, length: number): Promise<Buffer> {
  const file = await open(path)
  try {
    return await readAt(file, 0, length)
  } finally {
    await file.close()
  }
}
