import { describe, expect, it } from 'vitest'
import { complaintsAbout, EMPTY_DRAFT, toBody } from '../../../../../console/src/pages/broadcasts/compose/draft.js'
import { toHeaderMediaFields } from '../../../../../console/src/shared/templates/header-media.js'
import { readForm, type ShownTemplate } from '../../../../../console/src/shared/templates/template-form.js'
import type { ReadList } from '../../../../../src/model/broadcasts/read-list.js'
import { png } from '../../../../support/media.js'
import { startTemplateWorld } from '../../../../support/send-template.js'
import { useStarted } from '../../../../support/started.js'

const house = useStarted(startTemplateWorld)
const NO_LIST = { recipients: 0, columns: [] } as unknown as ReadList

describe('the file above the text of a template', () => {
  it('is the upload that was chosen on this computer', async () => {
    const { world, organization } = house
    const { key } = organization
    await world.request('POST', '/templates/sync', { key, body: {} })
    const upload = await fetch(`${world.app.url}/media?filename=sofa.png`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/octet-stream' },
      body: png(),
    })
    const { media } = (await upload.json()) as { media: { id: string } }
    const chosen = { headerMedia: '', headerMediaId: media.id }
    expect(toHeaderMediaFields({ headerMedia: ' https://shop.example/sofa.png ', headerMediaId: null })).toEqual({
      headerMedia: 'https://shop.example/sofa.png',
    })

    const { body: listed } = await world.request('GET', '/templates', { key })
    const template = listed.templates.find(({ name }: ShownTemplate) => name === 'nova_colecao')
    const draft = { ...EMPTY_DRAFT, name: 'Sofas', body: { name: 'Ana' }, audience: 'all' as const }
    const complaints = (given: object) =>
      complaintsAbout({ ...draft, ...given }, readForm(template), NO_LIST, 'America/Sao_Paulo')
    expect(complaints({})).toMatchObject({ headerMedia: 'required' })
    expect(complaints(chosen)).not.toHaveProperty('headerMedia')

    const chatNumber = await house.newContact()
    const body = toBody({ ...draft, ...chosen }, template, null, 'America/Sao_Paulo')
    const audience = { recipients: [{ chatNumber }] }
    const made = await world.request('POST', '/broadcasts', { key, body: { ...body, audience } })
    expect(made.status, JSON.stringify(made.body)).toBe(202)
    await world.settle()
    const [sent] = await house.arrived(chatNumber)
    expect(JSON.stringify(sent)).toMatch(/"image":\{"id":"\d+"/)
  })
})
