const RATE = 8_000
const HEADER_BYTES = 44

/** A WAV file of so many seconds in Base64, which has to be converted to be sent as a voice note. */
export function voiceNote(seconds: number): string {
  const samples = Buffer.alloc(seconds * RATE)
  for (let index = 0; index < samples.length; index++) {
    samples[index] = 128 + Math.round(100 * Math.sin((index * 2 * Math.PI * (300 + (index % 700))) / RATE))
  }
  return Buffer.concat([headerOf(samples.length), samples]).toString('base64')
}

/** PCM, mono, one byte per sample. */
function headerOf(bytes: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.write('RIFF', 0)
  header.writeUInt32LE(HEADER_BYTES - 8 + bytes, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(RATE, 24)
  header.writeUInt32LE(RATE, 28)
  header.writeUInt16LE(1, 32)
  header.writeUInt16LE(8, 34)
  header.write('data', 36)
  header.writeUInt32LE(bytes, 40)
  return header
}
