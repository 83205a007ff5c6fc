import { beforeAll, describe, expect, it } from 'vitest'
import { contact } from '../../../support/contacts.js'
import { jpeg, pdf } from '../../../support/media.js'
import { inTime, passTime } from '../../../support/scheduled.js'
import { startTemplateWorld } from '../../../support/send-template.js'
import { useStarted } from '../../../support/started.js'
import { uploadFile } from '../../../support/uploaded-files.js'

const DAY_MS = 24 * 3_600_000

const at = useStarted(startTemplateWorld)

beforeAll(() => at.putTemplate({ name: 'com_arquivo', body: 'Segue o arquivo.', header: { format: 'DOCUMENT' } }))

/** Takes a message for two days later, when an upload of now is removed. */
const later = (phone_number: string, fields: object) =>
  at.world.request('POST', '/send-chat', {
    key: at.organization.key,
    body: { phone_number, scheduled_at: inTime(at.world, 2 * DAY_MS), ...fields },
  })

/** Lets two days pass, with the maintenance that removes expired uploads, and what is due then. */
async function passTwoDays(): Promise<void> {
  await passTime(at.world, DAY_MS)
  await passTime(at.world, DAY_MS)
}

/** The file of the one message of a contact, which must be sent. */
async function sentFile(digits: string): Promise<Buffer> {
  const messages = await at.shown(digits)
  expect(messages).toMatchObject([{ media_type: 'document', message_status: 'sent' }])
  const stored = await fetch(messages[0].media_url)
  return Buffer.from(await stored.arrayBuffer())
}

describe('sending an uploaded file later', () => {
  it('keeps a copy, which is sent when the upload has expired', async () => {
    const media_id = await uploadFile(at.world, at.organization, pdf(), 'bill.pdf')
    const digits = await at.newContact()
    const answer = await later(digits, { message_type: 'document', media_id })
    expect(answer.status, JSON.stringify(answer.body)).toBe(202)
    expect(answer.body.scheduled.media_type).toBe('document')
    await passTwoDays()
    expect((await sentFile(digits)).equals(pdf())).toBe(true)
    expect(await at.arrived(digits)).toMatchObject([{ payload: { document: { filename: 'bill.pdf' } } }])
    const again = await later(digits, { message_type: 'document', media_id })
    expect([again.status, again.body.error, again.body.reason]).toEqual([400, 'Invalid media', 'unknown_id'])
  })

  it("keeps a copy of a template's header", async () => {
    const headerMediaId = await uploadFile(at.world, at.organization, pdf(), 'prices.pdf')
    const digits = await at.newContact()
    const template = { templateName: 'com_arquivo', chatNumber: digits, bodyParameters: {}, headerMediaId }
    const answer = await at.send({ ...template, scheduled_at: inTime(at.world, 2 * DAY_MS) })
    expect(answer.status, JSON.stringify(answer.body)).toBe(202)
    await passTwoDays()
    expect((await sentFile(digits)).equals(pdf())).toBe(true)
  })

  it('refuses an unknown id at once', async () => {
    const digits = await at.newContact()
    const answer = await later(digits, { message_type: 'image', media_id: 'photo' })
    expect([answer.status, answer.body.error, answer.body.reason]).toEqual([400, 'Invalid media', 'unknown_id'])
  })
})

it('makes an unknown recipient a contact at once, with create: true', async () => {
  const digits = at.newNumber()
  const media_id = await uploadFile(at.world, at.organization, jpeg())
  const fields = { message_type: 'image', media_id, create: true, full_name: 'Ana Souza' }
  const answer = await later(digits, fields)
  expect(answer.status, JSON.stringify(answer.body)).toBe(202)
  const made = (await contact(at.world, at.organization, digits)).body.contact
  expect(made).toMatchObject({ full_name: 'Ana Souza', source: { type: 'send_chat_create' } })
  expect(answer.body.scheduled).toMatchObject({ contact_id: made.id, chat_id: digits })
})
