import { beforeAll, describe, expect, it } from 'vitest'
import { startSendWorld } from '../../../support/send-chat.js'
import { useStarted } from '../../../support/started.js'

const house = useStarted(startSendWorld)
let digits: string

beforeAll(async () => {
  digits = await house.newContact()
})

/** The document's name at the upstream, and the one under which a browser would save it. */
async function namesOf(body: {
  media_url: string
  filename?: string | null
}): Promise<{ sent: string; saved: string }> {
  await house.sent({ phone_number: digits, message_type: 'document', ...body })
  const { payload } = (await house.arrived(digits)).at(-1)
  const { media_url } = (await house.shown(digits)).at(-1)
  const { headers } = await fetch(media_url)
  return { sent: payload.document.filename, saved: headers.get('content-disposition') ?? '' }
}

describe('the name of a document', () => {
  it.each([
    ['Prices 2026.pdf'],
    ['Preços & condições (v2).pdf'],
    ['報價單.pdf'],
    ['🧾.pdf'],
    ['no extension'],
    ['other.docx'],
    ['"quoted" \\ back.pdf'],
    ['../../etc/passwd'],
    ['100% off; today.pdf'],
    ['a\tb\nc.pdf'],
    ['\u202efdp.exe'],
    [' '],
  ])('is the given one, unchanged: %j', async (filename) => {
    const { sent, saved } = await namesOf({ media_url: house.fileUrl('pdf', 'other.pdf'), filename })
    expect(sent).toBe(filename)
    expect(saved).toMatch(/^inline; filename/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
    expect(saved).not.toMatch(/[\x00-\x1f\x7f]/)
  })

  it.each([undefined, null, ''])('is generated for %j', async (filename) => {
    expect((await namesOf({ media_url: house.fileUrl('pdf', 'paper'), filename })).sent).toBe('document.pdf')
  })

  it.each([
    ['paper.pdf', 'paper.pdf'],
    ['2026/05/paper.pdf', 'paper.pdf'],
    ['paper.pdf?download=1&name=x.docx', 'paper.pdf'],
    ['paper.pdf#page=2', 'paper.pdf'],
    ['PAPER.PDF', 'PAPER.PDF'],
    ['pre%C3%A7os%20de%20maio.pdf', 'preços de maio.pdf'],
    ['報價單.pdf', '報價單.pdf'],
    ['paper.v2.pdf', 'paper.v2.pdf'],
    // No name with the extension of its content.
    ['paper', 'document.pdf'],
    ['paper.docx', 'document.pdf'],
    ['paper.pdf.exe', 'document.pdf'],
    ['paperpdf', 'document.pdf'],
    ['download?file=paper.pdf', 'document.pdf'],
    ['paper.pdf/', 'document.pdf'],
    // An unreadable name.
    ['%E0%A4.pdf', 'document.pdf'],
    ['%.pdf', 'document.pdf'],
  ])('comes from the URL otherwise: %s', async (path, name) => {
    expect((await namesOf({ media_url: house.fileUrl('pdf', path) })).sent).toBe(name)
  })

  it.each([
    ['x', 'x'],
    ['%F0%9F%91%8D', '👍'],
  ])('from a URL has the same maximum length: %s', async (written, character) => {
    const nameFrom = async (length: number) => {
      const path = `${written.repeat(length - '.pdf'.length)}.pdf`
      return (await namesOf({ media_url: house.fileUrl('pdf', path) })).sent
    }
    expect(await nameFrom(241)).toBe('document.pdf')
    expect(await nameFrom(240)).toBe(`${character.repeat(236)}.pdf`)
  })

  it.each([
    ['U+0000', 'a%00b.pdf'],
    ['a line break', 'a%0D%0Ab.pdf'],
    ['a slash', 'a%2Fb.pdf'],
  ])('from a URL contains no invalid characters: %s', async (_name, path) => {
    const { sent, saved } = await namesOf({ media_url: house.fileUrl('pdf', path) })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
    expect(sent).toMatch(/^[^\x00-\x1f/]+\.pdf$/)
    expect(saved).toMatch(/^inline; filename/)
  })

  it('comes from the content if the URL has none: an Office document', async () => {
    expect((await namesOf({ media_url: house.fileUrl('docx', 'paper.pdf') })).sent).toBe('document.docx')
    expect((await namesOf({ media_url: house.fileUrl('docx', 'paper.docx') })).sent).toBe('paper.docx')
  })

  it('may have 240 characters, not 241', async () => {
    const media_url = house.fileUrl('pdf')
    for (const character of ['x', '👍']) {
      const filename = `${character.repeat(236)}.pdf`
      expect((await namesOf({ media_url, filename })).sent).toBe(filename)
      const longer = { phone_number: digits, message_type: 'document', media_url, filename: `x${filename}` }
      const answer = await house.send(longer)
      expect([answer.status, answer.body.error, answer.body.message]).toEqual([
        400,
        'Invalid field',
        'filename must have at most 240 characters',
      ])
    }
  })

  it('of a header follows the same rules, and other headers have none', async () => {
    const headerOf = async (header_media: object) => {
      const interactive = { type: 'button', body: 'Pay?', buttons: [{ id: 'a', title: 'A' }], header_media }
      await house.sent({ phone_number: digits, message_type: 'interactive', interactive })
      return (await house.arrived(digits)).at(-1).payload.interactive.header
    }
    const id = expect.any(String)
    const url = house.fileUrl('pdf', 'bill.pdf')
    expect(await headerOf({ type: 'document', url })).toEqual({
      type: 'document',
      document: { id, filename: 'bill.pdf' },
    })
    expect(await headerOf({ type: 'document', url: house.fileUrl('pdf'), filename: null })).toEqual({
      type: 'document',
      document: { id, filename: 'document.pdf' },
    })
    expect(await headerOf({ type: 'image', url: house.fileUrl('png'), filename: 'x.png' })).toEqual({
      type: 'image',
      image: { id },
    })
  })
})

describe('the first name on a contact card', () => {
  it.each([
    ['is the given one', { formatted_name: 'Ana Lima', first_name: 'Ana' }, { first_name: 'Ana' }],
    ['comes from formatted_name', { formatted_name: 'Ana Lima' }, { first_name: 'Ana Lima' }],
    ['comes from there too when null is given', { formatted_name: 'Ana', first_name: null }, { first_name: 'Ana' }],
    ['comes from there too when it is empty', { formatted_name: 'Ana', first_name: '' }, { first_name: 'Ana' }],
    [
      'and the last name is what is given',
      { formatted_name: 'Ana Lima', last_name: 'Lima' },
      { first_name: 'Ana Lima', last_name: 'Lima' },
    ],
  ])('%s', async (_name, name, parts) => {
    const contacts = [{ name, phones: [{ phone: '1' }] }]
    await house.sent({ phone_number: digits, message_type: 'contacts', contacts })
    expect((await house.arrived(digits)).at(-1).payload.contacts).toEqual([
      { name: { formatted_name: name.formatted_name, ...parts }, phones: [{ phone: '1' }] },
    ])
  })
})
