import { expect, it } from 'vitest'
import { filledBody, startMessageWorld, streamBody } from '../../../support/gateway-messages.js'
import { pdf } from '../../../support/media.js'
import { growthDuring } from '../../../support/memory.js'
import { useStarted } from '../../../support/started.js'

const on = useStarted(startMessageWorld)

const MEBIBYTE = 1_048_576
/** Twice the allowed growth: what is between the sockets of this process takes up to 30 MiB for any size. */
const FILE_BYTES = 90 * MEBIBYTE
const MAX_GROWTH = 45 * MEBIBYTE
const SAMPLE_MS = 200

/** A multiple of three bytes, so that base64 needs no padding. */
const head = Buffer.concat([pdf(), Buffer.alloc(3 - (pdf().length % 3), '\n')])
const rest = Math.floor((FILE_BYTES - head.length) / 3) * 3

function json(number: string): Iterable<Buffer> {
  const before = JSON.stringify({ number, mediatype: 'document', fileName: 'a.pdf', media: head.toString('base64') })
  return filledBody(before.slice(0, -2), (rest / 3) * 4, 'A', '"}')
}

function form(number: string): Iterable<Buffer> {
  const field = (name: string, value: string) =>
    `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const file = `--x\r\ncontent-disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n${head.toString('latin1')}`
  return filledBody(field('number', number) + field('mediatype', 'document') + file, rest, '\0', '\r\n--x--\r\n')
}

it.each([
  ['base64', 'application/json', json],
  ['a form', 'multipart/form-data; boundary=x', form],
])('streams a large file without holding it in memory: %s', async (_name, contentType, bodyOf) => {
  const number = on.newNumber()
  const growth = await growthDuring(SAMPLE_MS, async () => {
    const { status, body } = await streamBody(on, 'sendMedia', contentType, bodyOf(number))
    expect(status, JSON.stringify(body)).toBe(201)
    expect(body.message.documentMessage).toMatchObject({ fileName: 'a.pdf', fileLength: String(head.length + rest) })
  })
  expect(growth).toBeLessThan(MAX_GROWTH)
  expect(await on.arrived(number)).toHaveLength(1)
})
