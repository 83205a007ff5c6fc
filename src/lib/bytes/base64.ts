/** Encodes chunks as base64; the concatenated parts are the base64 of the whole. */
export async function* encodeBase64(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of bytes) {
    const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const whole = all.length - (all.length % 3)
    rest = all.subarray(whole)
    if (whole > 0) yield all.toString('base64', 0, whole)
  }
  if (rest.length > 0) yield rest.toString('base64')
}
