import { type FileHandle, open } from 'node:fs/promises'
import { type FileTypeResult, fileTypeFromFile } from 'file-type'
import { topNamesOfCompoundFile } from './compound-file.js'
import { trackHandlers } from './iso-media.js'
import { readAt } from './read-at.js'
import { namesInZip } from './zip-directory.js'

const ZIP = 'application/zip'
const COMPOUND_FILE = 'application/x-cfb'

/** Types whose name in the library is not the common one. */
const CANONICAL_NAMES: Record<string, string> = {
  'image/apng': 'image/png',
  'audio/x-m4a': 'audio/mp4',
  'video/x-m4v': 'video/mp4',
}

/** The folder that marks a zip file as an Office Open XML document. */
const OFFICE_FOLDERS: Record<string, string> = {
  word: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xl: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ppt: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
}

/** The stream that marks an OLE compound file as an older Office document. */
const OFFICE_STREAMS: Record<string, string> = {
  WordDocument: 'application/msword',
  Workbook: 'application/vnd.ms-excel',
  Book: 'application/vnd.ms-excel',
  'PowerPoint Document': 'application/vnd.ms-powerpoint',
}

/** Readers of PDF look for its header in this many bytes. */
const PDF_HEAD_BYTES = 1_024
/** White space and byte order marks (of UTF-8), which web pages and report servers write before a PDF. */
const PDF_BEHIND_SPACE = /^(?:[\0\t\n\v\f\r ]|\xef\xbb\xbf)+%PDF-/

/**
 * The MIME type of the file at `path`, from its content alone and without parameters. Null for unknown types, text,
 * HTML and SVG. Formats in the same container are distinguished by the container's directory. The file may be hostile:
 * little of it is read and nothing is unpacked. Throws only if it cannot be read.
 */
export async function detectFileType(path: string): Promise<string | null> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const head = await readAt(file, 0, PDF_HEAD_BYTES)
    if (PDF_BEHIND_SPACE.test(head.toString('latin1'))) return 'application/pdf'
    // The library would judge by the first entries and unpack some.
    if (head.toString('latin1', 0, 4) === 'PK\x03\x04') return officeTypeByFolder(await namesInZip(file, size)) ?? ZIP
    const found = await detectBySignature(path)
    return behindPrefix(head, found && (await refine(found, file, size)))
  } finally {
    await file.close()
  }
}

async function detectBySignature(path: string): Promise<FileTypeResult | null> {
  try {
    return (await fileTypeFromFile(path)) ?? null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall) throw error
    // The library fails on some damaged files.
    return null
  }
}

async function refine(found: FileTypeResult, file: FileHandle, size: number): Promise<string | null> {
  const mime = CANONICAL_NAMES[found.mime] ?? found.mime
  if (mime.startsWith('text/') || mime === 'application/xml') return null
  if (mime === COMPOUND_FILE) return officeTypeByStream(await topNamesOfCompoundFile(file)) ?? mime
  if (mime === 'video/mp4') return (await hasSoundOnly(file, size)) ? 'audio/mp4' : mime
  if (mime.startsWith('audio/ogg')) return ['opus', 'ogg'].includes(found.ext) ? 'audio/ogg' : 'application/ogg'
  return mime
}

/** The library skips two prefixes for all formats, although not every format may have them. */
function behindPrefix(head: Buffer, type: string | null): string | null {
  if (head.toString('latin1', 0, 3) === 'ID3') return type?.startsWith('audio/') ? type : 'audio/mpeg'
  return head.toString('hex', 0, 3) === 'efbbbf' ? null : type
}

/** Null for documents with macros, which have another type and are risky. */
function officeTypeByFolder(names: string[]): string | null {
  if (!names.includes('[Content_Types].xml') || names.some((name) => name.endsWith('/vbaProject.bin'))) return null
  const types = Object.entries(OFFICE_FOLDERS)
    .filter(([folder]) => names.some((name) => name.startsWith(`${folder}/`)))
    .map(([, type]) => type)
  return types.length === 1 ? (types[0] ?? null) : null
}

function officeTypeByStream(names: string[]): string | null {
  return Object.entries(OFFICE_STREAMS).find(([stream]) => names.includes(stream))?.[1] ?? null
}

async function hasSoundOnly(file: FileHandle, size: number): Promise<boolean> {
  const handlers = await trackHandlers(file, size)
  return handlers.includes('soun') && !handlers.includes('vide')
}
