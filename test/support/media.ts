import { crc32, deflateRawSync, deflateSync } from 'node:zlib'

/** A gray pixel: the smallest baseline JPEG. */
export function jpeg(): Buffer {
  const quantization = segment(0xdb, [0, ...Array(64).fill(1)])
  const frame = segment(0xc0, [8, 0, 1, 0, 1, 1, 1, 0x11, 0])
  // One code each, '0': a difference of no bits, and the end of the block.
  const codes = [0x00, 0x10].map((table) => segment(0xc4, [table, 1, ...Array(15).fill(0), 0]))
  const scan = segment(0xda, [1, 1, 0x00, 0, 63, 0])
  return Buffer.concat([Buffer.of(0xff, 0xd8), quantization, frame, ...codes, scan, Buffer.of(0x3f, 0xff, 0xd9)])
}

/** A black pixel. */
export function png(): Buffer {
  const header = Buffer.of(0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0)
  const chunks = [pngChunk('IHDR', header), pngChunk('IDAT', deflateSync(Buffer.of(0, 0))), pngChunk('IEND')]
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks])
}

/** As `png`, with one frame of animation. */
export function apng(): Buffer {
  const still = png()
  const afterHeader = 8 + 25
  return Buffer.concat([
    still.subarray(0, afterHeader),
    pngChunk('acTL', Buffer.of(0, 0, 0, 1, 0, 0, 0, 0)),
    still.subarray(afterHeader),
  ])
}

/** A transparent pixel. */
export function gif(): Buffer {
  return Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
}

/** A pixel, lossless. */
export function webp(): Buffer {
  return Buffer.from('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==', 'base64')
}

/** A video track without frames, next to a sound track. */
export function mp4(): Buffer {
  return isoMedia('isom', ['vide', 'soun'])
}

/** A sound track without samples. */
export function m4a(): Buffer {
  return isoMedia('M4A ', ['soun'])
}

/** A file of the MP4 family: its brand (four characters), and the handlers of its tracks, such as `vide` and `soun`. */
export function isoMedia(brand: string, handlers: string[]): Buffer {
  const tracks = handlers.map((handler, index) => track(index + 1, handler))
  return Buffer.concat([
    box('ftyp', Buffer.from(brand), uint32(512), Buffer.from(`${brand}isom`)),
    // Before the data it describes, as in a recording, so that a reader must skip it.
    box('mdat', Buffer.alloc(64)),
    box('moov', box('mvhd', Buffer.alloc(100)), ...tracks),
  ])
}

/** Opus: head, tags, and a frame of silence. */
export function ogg(): Buffer {
  const head = Buffer.concat([Buffer.from('OpusHead'), Buffer.of(1, 1, 0, 0, 0x80, 0xbb, 0, 0, 0, 0, 0)])
  const tags = Buffer.concat([Buffer.from('OpusTags'), Buffer.alloc(8)])
  return Buffer.concat([
    oggPage(0, 2, 0, head),
    oggPage(1, 0, 0, tags),
    oggPage(2, 4, 960, Buffer.of(0xf8, 0xff, 0xfe)),
  ])
}

/** An Ogg file whose only packet starts with these bytes. */
export function oggOf(packetStart: string): Buffer {
  return oggPage(0, 6, 0, Buffer.concat([Buffer.from(packetStart, 'latin1'), Buffer.alloc(32)]))
}

/** Two silent frames, 128 kbit/s. */
export function mp3(): Buffer {
  const frame = Buffer.concat([Buffer.of(0xff, 0xfb, 0x90, 0xc4), Buffer.alloc(413)])
  return Buffer.concat([frame, frame])
}

/** An ID3v2 tag of 64 empty bytes, to be put before sound. */
export function id3(): Buffer {
  return Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\x40', 'latin1'), Buffer.alloc(64)])
}

/** Two silent ADTS frames. */
export function aac(): Buffer {
  const frame = Buffer.of(0xff, 0xf1, 0x50, 0x40, 0x01, 0xbf, 0xfc, 0x00, 0xc8, 0x00, 0x80, 0x23, 0x80)
  return Buffer.concat([frame, frame])
}

/** A frame without speech. */
export function amr(): Buffer {
  return Buffer.from('#!AMR\n\x7c', 'latin1')
}

/** An empty page. */
export function pdf(): Buffer {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]>>',
  ]
  let text = '%PDF-1.4\n'
  const offsets: number[] = []
  objects.forEach((object, index) => {
    offsets.push(text.length)
    text += `${index + 1} 0 obj${object}endobj\n`
  })
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const trailer = `trailer<</Size 4/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`
  return Buffer.from(`${text}xref\n0 4\n0000000000 65535 f \n${table}${trailer}`)
}

export function docx(): Buffer {
  return zip(officeFiles('word/document.xml', 'wordprocessingml.document'))
}

export function xlsx(): Buffer {
  return zip(officeFiles('xl/workbook.xml', 'spreadsheetml.sheet'))
}

export function pptx(): Buffer {
  return zip(officeFiles('ppt/presentation.xml', 'presentationml.presentation'))
}

export function doc(): Buffer {
  return compoundFile(['WordDocument', '1Table'])
}

export function xls(): Buffer {
  return compoundFile(['Workbook'])
}

export function ppt(): Buffer {
  return compoundFile(['Current User', 'PowerPoint Document'])
}

/** The entries of an Office Open XML document, by name; reverse them for an unusual order. */
export function officeFiles(part: string, type: string): Record<string, string> {
  const schemas = 'http://schemas.openxmlformats.org'
  const office = `${schemas}/officeDocument/2006/relationships/officeDocument`
  const content = `application/vnd.openxmlformats-officedocument.${type}.main+xml`
  return {
    '[Content_Types].xml': `<Types xmlns="${schemas}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/${part}" ContentType="${content}"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="${schemas}/package/2006/relationships"><Relationship Id="r" Type="${office}" Target="${part}"/></Relationships>`,
    [part]: '<root/>',
  }
}

/** A zip file of texts by name, in their order. */
export function zip(files: Record<string, string>): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(files)) {
    const packed = deflateRawSync(text)
    // Of both headers: version, flags, method, time, date, checksum, sizes, lengths of name and extra field.
    const common = Buffer.concat([
      ...[20, 0, 8, 0, 0x21].map(uint16le),
      ...[crc32(text), packed.length, Buffer.byteLength(text)].map(uint32le),
      ...[Buffer.byteLength(name), 0].map(uint16le),
    ])
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed])
    const rest = Buffer.concat([Buffer.alloc(10), uint32le(offset)])
    directory.push(Buffer.from('PK\x01\x02'), uint16le(20), common, rest, Buffer.from(name))
    locals.push(local)
    offset += local.length
  }
  const count = uint16le(Object.keys(files).length)
  const sizes = [uint32le(Buffer.concat(directory).length), uint32le(offset), uint16le(0)]
  return Buffer.concat([...locals, ...directory, Buffer.from('PK\x05\x06'), Buffer.alloc(4), count, count, ...sizes])
}

const SECTOR = 512
const END_OF_CHAIN = 0xffff_fffe
const FAT_SECTOR = 0xffff_fffd
const NONE = 0xffff_ffff
const STREAM_SECTORS = 8

/**
 * An OLE compound file with streams of these names, 4 KB of zeros each. `inside` are streams of an inner storage, as of
 * an embedded document. The directory follows the streams.
 */
export function compoundFile(streams: string[], inside: string[] = []): Buffer {
  const all = [...streams, ...(inside.length > 0 ? ['ObjectPool'] : []), ...inside]
  const entries = [
    directoryEntry('Root Entry', 5, { child: 1 }),
    ...all.map((name, index) => {
      const id = index + 1
      const isLast = id === all.length || name === 'ObjectPool'
      const links = { right: isLast ? NONE : id + 1, child: name === 'ObjectPool' ? id + 1 : NONE }
      if (name === 'ObjectPool') return directoryEntry(name, 1, links)
      return directoryEntry(name, 2, links, 1 + index * STREAM_SECTORS)
    }),
  ]
  const firstDirectorySector = 1 + all.length * STREAM_SECTORS
  const directorySectors = Math.ceil(entries.length / 4)
  const chains = [...Array(all.length).fill(STREAM_SECTORS), directorySectors] as number[]
  const fat = [FAT_SECTOR]
  for (const length of chains) for (let i = 1; i <= length; i++) fat.push(i === length ? END_OF_CHAIN : fat.length + 1)

  const header = Buffer.alloc(SECTOR, 0xff)
  header.fill(0, 0, 76)
  header.write('d0cf11e0a1b11ae1', 'hex')
  ;[0x3e, 3, 0xfffe, 9, 6].forEach((value, index) => {
    header.writeUInt16LE(value, 24 + index * 2)
  })
  header.writeUInt32LE(1, 44)
  header.writeUInt32LE(firstDirectorySector, 48)
  header.writeUInt32LE(4_096, 56)
  header.writeUInt32LE(END_OF_CHAIN, 60)
  header.writeUInt32LE(END_OF_CHAIN, 68)
  header.writeUInt32LE(0, 76)

  const table = Buffer.alloc(SECTOR, 0xff)
  fat.forEach((value, index) => {
    table.writeUInt32LE(value, index * 4)
  })
  const directory = Buffer.alloc(directorySectors * SECTOR)
  entries.forEach((entry, index) => {
    entry.copy(directory, index * 128)
  })
  return Buffer.concat([header, table, Buffer.alloc(all.length * STREAM_SECTORS * SECTOR), directory])
}

/** A valid file of at least this size: a generated file, padded in the way of its format. */
export function padded(file: Buffer, size: number): Buffer {
  const missing = Math.max(size - file.length, 0)
  const start = file.toString('latin1', 0, 4)
  if (start === 'PK\x03\x04') return paddedZip(file, missing)
  if (start === '%PDF') {
    const end = file.subarray(file.lastIndexOf('startxref'))
    return Buffer.concat([file, Buffer.alloc(missing, '\n'), end])
  }
  if (file.toString('latin1', 4, 8) === 'ftyp') return Buffer.concat([file, box('free', Buffer.alloc(missing))])
  const isSound = start === 'OggS' || (file[0] === 0xff && file[1] !== 0xd8)
  // Frames and streams of sound may follow each other.
  if (isSound) return Buffer.concat(Array(Math.ceil(size / file.length)).fill(file))
  return Buffer.concat([file, Buffer.alloc(missing)])
}

/** The padding is between the files and the directory. */
function paddedZip(file: Buffer, missing: number): Buffer {
  const directoryAt = file.readUInt32LE(file.length - 6)
  const grown = Buffer.concat([file.subarray(0, directoryAt), Buffer.alloc(missing), file.subarray(directoryAt)])
  grown.writeUInt32LE(directoryAt + missing, grown.length - 6)
  return grown
}

function directoryEntry(name: string, type: number, links: { right?: number; child?: number }, sector = 0): Buffer {
  const entry = Buffer.alloc(128)
  entry.write(name, 'utf16le')
  entry.writeUInt16LE((name.length + 1) * 2, 64)
  entry[66] = type
  entry[67] = 1
  entry.writeUInt32LE(NONE, 68)
  entry.writeUInt32LE(links.right ?? NONE, 72)
  entry.writeUInt32LE(links.child ?? NONE, 76)
  entry.writeUInt32LE(type === 5 ? END_OF_CHAIN : sector, 116)
  entry.writeUInt32LE(type === 2 ? STREAM_SECTORS * SECTOR : 0, 120)
  return entry
}

/** A JPEG segment; its length counts itself. */
function segment(marker: number, bytes: number[]): Buffer {
  return Buffer.concat([Buffer.of(0xff, marker), Buffer.of(0, bytes.length + 2), Buffer.from(bytes)])
}

function pngChunk(type: string, data = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(type), data])
  return Buffer.concat([uint32(data.length), named, uint32(crc32(named))])
}

function track(id: number, handler: string): Buffer {
  const header = Buffer.alloc(84)
  header.writeUInt32BE(id, 12)
  const handlerBox = box('hdlr', Buffer.alloc(8), Buffer.from(handler), Buffer.alloc(13))
  const dataReference = box('dinf', box('dref', uint32(0), uint32(1), box('url ', uint32(1))))
  const noSamples = ['stsd', 'stts', 'stsc', 'stco'].map((type) => box(type, Buffer.alloc(8)))
  const table = box('stbl', ...noSamples, box('stsz', Buffer.alloc(12)))
  const about = handler === 'vide' ? box('vmhd', Buffer.alloc(12)) : box('smhd', Buffer.alloc(8))
  const media = box('mdia', box('mdhd', Buffer.alloc(24)), handlerBox, box('minf', about, dataReference, table))
  return box('trak', box('tkhd', header), media)
}

function box(type: string, ...content: Buffer[]): Buffer {
  const bytes = Buffer.concat(content)
  return Buffer.concat([uint32(bytes.length + 8), Buffer.from(type), bytes])
}

function oggPage(sequence: number, flags: number, position: number, packet: Buffer): Buffer {
  const header = Buffer.alloc(28)
  header.write('OggS')
  header[5] = flags
  header.writeUInt32LE(position, 6)
  header.writeUInt32LE(1, 14)
  header.writeUInt32LE(sequence, 18)
  header[26] = 1
  header[27] = packet.length
  const page = Buffer.concat([header, packet])
  page.writeUInt32LE(oggChecksum(page), 22)
  return page
}

/** CRC-32 with the polynomial of zip files, but neither reflected nor inverted. */
function oggChecksum(bytes: Buffer): number {
  let checksum = 0
  for (const byte of bytes) {
    checksum ^= byte << 24
    for (let bit = 0; bit < 8; bit++) checksum = checksum < 0 ? (checksum << 1) ^ 0x04c1_1db7 : checksum << 1
  }
  return checksum >>> 0
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

function uint32le(value: number): Buffer {
  return uint32(value).reverse()
}

function uint16le(value: number): Buffer {
  return Buffer.of(value & 0xff, value >> 8)
}
