import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../../src/lib/bytes/id.js'
import { jpeg, pdf } from '../../../support/media.js'
import { startTemplateWorld } from '../../../support/send-template.js'
import { useStarted } from '../../../support/started.js'
import { uploadFile } from '../../../support/uploaded-files.js'

const template = useStarted(startTemplateWorld)

beforeAll(async () => {
  for (const kind of ['image', 'document']) {
    await template.putTemplate({ name: `with_${kind}`, header: { format: kind.toUpperCase() }, body: 'Olá, {{name}}' })
  }
})

const request = (kind: string, chatNumber: string, fields: object) => ({
  templateName: `with_${kind}`,
  chatNumber,
  bodyParameters: { name: 'Ana' },
  ...fields,
})

describe('headerMediaId', () => {
  it.each([
    ['image', jpeg(), {}],
    ['document', pdf(), { filename: 'conta.pdf' }],
  ])('sends an uploaded file above the text: %s', async (kind, bytes, extras) => {
    const headerMediaId = await uploadFile(template.world, template.organization, bytes, 'conta.pdf')
    const digits = await template.newContact()
    const sent = await template.sent(request(kind, digits, { headerMediaId }))
    expect(sent.components[0]).toEqual({
      type: 'header',
      parameters: [{ type: kind, [kind]: { id: expect.any(String), ...extras } }],
    })
    const [shown] = await template.shown(digits)
    const stored = await fetch(shown.media_url)
    expect(Buffer.from(await stored.arrayBuffer()).equals(bytes)).toBe(true)
  })

  it('excludes headerMedia, and must be known to the organization', async () => {
    const digits = await template.newContact()
    const post = (fields: object) =>
      template.world.request('POST', '/send-template', {
        key: template.organization.key,
        body: request('image', digits, fields),
      })
    const both = await post({ headerMediaId: newId(), headerMedia: 'https://example.com/a.png' })
    expect([both.status, both.body.error]).toEqual([400, 'Invalid field'])
    expect(both.body.message).toBe('headerMedia and headerMediaId exclude each other: give one')
    const stranger = await template.world.createOrganization()
    const foreign = await uploadFile(template.world, stranger, jpeg())
    for (const headerMediaId of [newId(), foreign, 'photo']) {
      const { status, body } = await post({ headerMediaId })
      expect([status, body.error, body.reason]).toEqual([400, 'Invalid media', 'unknown_id'])
      expect(body.message).toMatch(/^headerMediaId cannot be used/)
    }
    expect(await template.shown(digits)).toEqual([])
  })
})
