import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { detectFileType } from '../../../src/lib/files/file-type.js'
import * as media from '../../support/media.js'

const OFFICE = 'application/vnd.openxmlformats-officedocument'
const DOCX = `${OFFICE}.wordprocessingml.document`
const XLSX = `${OFFICE}.spreadsheetml.sheet`
const PPTX = `${OFFICE}.presentationml.presentation`

const samples: [string, Buffer, string][] = [
  ['JPEG', media.jpeg(), 'image/jpeg'],
  ['PNG', media.png(), 'image/png'],
  ['animated PNG', media.apng(), 'image/png'],
  ['GIF', media.gif(), 'image/gif'],
  ['WebP', media.webp(), 'image/webp'],
  ['MP4', media.mp4(), 'video/mp4'],
  ['M4A', media.m4a(), 'audio/mp4'],
  ['3GP', media.isoMedia('3gp4', ['vide']), 'video/3gpp'],
  ['Opus', media.ogg(), 'audio/ogg'],
  ['MP3', media.mp3(), 'audio/mpeg'],
  ['AAC', media.aac(), 'audio/aac'],
  ['AMR', media.amr(), 'audio/amr'],
  ['PDF', media.pdf(), 'application/pdf'],
  ['DOCX', media.docx(), DOCX],
  ['XLSX', media.xlsx(), XLSX],
  ['PPTX', media.pptx(), PPTX],
  ['DOC', media.doc(), 'application/msword'],
  ['XLS', media.xls(), 'application/vnd.ms-excel'],
  ['PPT', media.ppt(), 'application/vnd.ms-powerpoint'],
]

let folder: string
let count = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-types-'))
})

afterAll(() => rm(folder, { recursive: true }))

async function typeOf(content: Buffer | string, name = `file-${count++}`): Promise<string | null> {
  const path = join(folder, name)
  await writeFile(path, content)
  try {
    return await detectFileType(path)
  } finally {
    await rm(path)
  }
}

describe('detectFileType', () => {
  it.each(samples)('recognizes %s, also in a large file', async (_, content, expected) => {
    expect(await typeOf(content)).toBe(expected)
    const large = media.padded(content, 300_000)
    expect(large.length).toBeGreaterThanOrEqual(300_000)
    expect(await typeOf(large)).toBe(expected)
  })

  it('uses the content, never the name', async () => {
    expect(await typeOf(media.png(), 'picture.jpg')).toBe('image/png')
    expect(await typeOf('words', 'picture.jpg')).toBeNull()
  })

  it.each([
    ['', 'a'],
    ['plain text', 'Hello, this is a letter.\n'],
    ['HTML', '<!doctype html><html><body>Hello</body></html>'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['SVG with a prolog', '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['a contact', 'BEGIN:VCARD\nVERSION:3.0\nEND:VCARD\n'],
    ['a picture behind a byte order mark', Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), media.jpeg()])],
    ['nothing', ''],
  ])('returns no type for %s', async (_, content) => {
    expect(await typeOf(content)).toBeNull()
  })

  it('throws for a missing file', async () => {
    await expect(detectFileType(join(folder, 'none'))).rejects.toThrow('ENOENT')
  })

  it.each([
    ['a byte order mark', '\ufeff'],
    ['line ends', '\r\n\r\n'],
    ['a tab and blanks', '\t   '],
    ['a byte order mark and a line end', '\ufeff\n'],
    ['a line end and two byte order marks', '\n\ufeff\ufeff'],
    ['white space of PDF', '\0\f'],
    ['1,019 blanks', ' '.repeat(1_019)],
  ])('accepts a PDF after %s', async (_, prefix) => {
    expect(await typeOf(Buffer.concat([Buffer.from(prefix), media.pdf()]))).toBe('application/pdf')
    expect(await typeOf(Buffer.concat([Buffer.from(prefix), media.padded(media.pdf(), 300_000)]))).toBe(
      'application/pdf',
    )
  })

  it.each([
    ['more blanks than readers look through', ' '.repeat(1_020)],
    ['an HTML page', '<html><body>'],
    ['white space and an HTML page', '\n<!doctype html><p>'],
    ['a word', 'Notice: '],
    ['a warning', '\n<b>Warning</b>: '],
  ])('returns no type for a PDF after %s', async (_, prefix) => {
    expect(await typeOf(Buffer.concat([Buffer.from(prefix), media.pdf()]))).toBeNull()
  })
})

describe('sound', () => {
  it('is distinguished from video by the tracks', async () => {
    expect(await typeOf(media.isoMedia('isom', ['soun']))).toBe('audio/mp4')
    expect(await typeOf(media.isoMedia('mp42', ['soun', 'hint', 'vide']))).toBe('video/mp4')
    expect(await typeOf(media.isoMedia('M4V ', ['vide']))).toBe('video/mp4')
    expect(await typeOf(media.isoMedia('qt  ', ['vide']))).toBe('video/quicktime')
  })

  it('is found after an ID3 tag, unlike pictures', async () => {
    expect(await typeOf(Buffer.concat([media.id3(), media.mp3()]))).toBe('audio/mpeg')
    expect(await typeOf(Buffer.concat([media.id3(), Buffer.alloc(500), media.mp3()]))).toBe('audio/mpeg')
    expect(await typeOf(Buffer.concat([media.id3(), media.aac()]))).toBe('audio/aac')
    expect(await typeOf(Buffer.concat([media.id3(), media.jpeg()]))).toBe('audio/mpeg')
  })

  it('in Ogg is Opus or Vorbis', async () => {
    expect(await typeOf(media.oggOf('\x01vorbis'))).toBe('audio/ogg')
    expect(await typeOf(media.oggOf('\x7fFLAC'))).toBe('application/ogg')
    expect(await typeOf(media.oggOf('\x80theora'))).toBe('video/ogg')
  })
})

describe('documents in a zip file', () => {
  const word = media.officeFiles('word/document.xml', 'wordprocessingml.document')

  it('are recognized in any order of entries', async () => {
    const reversed = Object.fromEntries(Object.entries(word).reverse())
    expect(await typeOf(media.zip(reversed))).toBe(DOCX)
    expect(await typeOf(media.zip({ 'docProps/thumbnail.jpeg': 'x'.repeat(100_000), ...word }))).toBe(DOCX)
    expect(await typeOf(media.zip({ 'META-INF/MANIFEST.MF': '', ...word }))).toBe(DOCX)
  })

  it('are recognized with other documents embedded', async () => {
    expect(await typeOf(media.zip({ 'word/embeddings/xl/workbook.xml': '', ...word }))).toBe(DOCX)
  })

  it('need the list of content types, one folder and no macros', async () => {
    expect(await typeOf(media.zip({ 'word/document.xml': '' }))).toBe('application/zip')
    expect(await typeOf(media.zip({ 'xl/workbook.xml': '', ...word }))).toBe('application/zip')
    expect(await typeOf(media.zip({ 'word/vbaProject.bin': '', ...word }))).toBe('application/zip')
    expect(await typeOf(media.zip({ 'letter.txt': 'hello' }))).toBe('application/zip')
  })

  it('are not read further if a directory has megabytes of names', async () => {
    const long = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`${index}${'n'.repeat(60_000)}`, '']))
    expect(await typeOf(media.zip({ ...word, ...long }))).toBe(DOCX)
    expect(await typeOf(media.zip({ ...long, ...word }))).toBe('application/zip')
  })

  it('are refused if a directory points beyond the range of a number', async () => {
    const record = Buffer.alloc(56)
    record.write('PK\x06\x06')
    const locator = Buffer.alloc(20, 0x7f)
    locator.write('PK\x06\x07')
    const end = Buffer.alloc(22)
    end.write('PK\x05\x06')
    expect(await typeOf(Buffer.concat([media.docx(), record, locator, end]))).toBe('application/zip')
  })
})

describe('documents in a compound file', () => {
  it('are recognized by the streams at the top, not by those of an embedded one', async () => {
    expect(await typeOf(media.compoundFile(['Data', 'WordDocument'], ['Workbook']))).toBe('application/msword')
    expect(await typeOf(media.compoundFile(['Other'], ['WordDocument']))).toBe('application/x-cfb')
    expect(await typeOf(media.compoundFile(['Book']))).toBe('application/vnd.ms-excel')
  })

  it('are recognized if the directory spans several sectors', async () => {
    const names = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H']
    expect(await typeOf(media.compoundFile([...names, 'WordDocument']))).toBe('application/msword')
  })

  it('are recognized if the FAT continues after the header, as in large files', async () => {
    const file = media.doc()
    const list = Buffer.alloc(512, 0xff)
    const listSector = file.length / 512 - 1
    file.writeUInt32LE(listSector, 68)
    file.writeUInt32LE(1, 72)
    list.writeUInt32LE(0xffff_fffe, 508)
    // The directory is in a sector that only the list leads to: number 109 of the FAT describes 13,952 and later.
    const fat = Buffer.alloc(512, 0xff)
    const [fatSector, first, second] = [listSector + 1, 109 * 128, 109 * 128 + 1]
    list.writeUInt32LE(fatSector, 0)
    fat.writeUInt32LE(second, 0)
    fat.writeUInt32LE(0xffff_fffe, 4)
    file.writeUInt32LE(first, 48)
    const directory = media.compoundFile(['A', 'B', 'C', 'D', 'WordDocument']).subarray(-1024)
    const head = Buffer.concat([file, list, fat])
    const gap = Buffer.alloc((first + 1) * 512 - head.length)
    expect(await typeOf(Buffer.concat([head, gap, directory]))).toBe('application/msword')
  })

  it('are refused if chains or trees form a circle', async () => {
    const circular = media.compoundFile(['Other'])
    const directorySector = circular.readUInt32LE(48)
    circular.writeUInt32LE(directorySector, 512 + directorySector * 4)
    circular.writeUInt32LE(1, (directorySector + 1) * 512 + 128 + 72)
    // The FAT, which marks its own sectors as a list.
    circular.writeUInt32LE(0, 68)
    circular.writeUInt32LE(0, 512 + 508)
    expect(await typeOf(circular)).toBe('application/x-cfb')
  })
})

describe('a damaged file', () => {
  const anySample = fc.constantFrom(...samples.map(([, content]) => content))
  const known = [expect.any(String), null]

  it('gets some type or none if bytes are changed', async () => {
    const change = fc.record({ at: fc.nat(), value: fc.integer({ min: 0, max: 255 }) })
    const changes = fc.array(change, { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(anySample, changes, async (sample, places) => {
        const content = Buffer.from(sample)
        for (const { at, value } of places) content[at % content.length] = value
        expect(known).toContainEqual(await typeOf(content))
      }),
      { numRuns: 300 },
    )
  })

  it('gets some type or none if numbers in its headers are wrong', async () => {
    const number = fc.constantFrom(0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff, 0xffff_fff0)
    await fc.assert(
      fc.asyncProperty(anySample, fc.nat(), number, async (sample, at, value) => {
        const content = Buffer.concat([sample, Buffer.alloc(8)])
        content.writeUInt32LE(value, at % (content.length - 4))
        expect(known).toContainEqual(await typeOf(content))
      }),
      { numRuns: 300 },
    )
  })

  it('gets some type or none if it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(anySample, fc.nat(), async (sample, length) => {
        expect(known).toContainEqual(await typeOf(sample.subarray(0, length % sample.length)))
      }),
      { numRuns: 200 },
    )
  })
})
