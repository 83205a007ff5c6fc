import { beforeAll, describe, expect, it } from 'vitest'
import { createContact } from '../../../support/contacts.js'
import { freePort } from '../../../support/free-port.js'
import { startTemplateWorld } from '../../../support/send-template.js'
import { useStarted } from '../../../support/started.js'

const DIGITS = '5511987650001'

const template = useStarted(async () =>
  startTemplateWorld({ PARLEY_UPSTREAM_URL: `http://127.0.0.1:${await freePort()}/v23.0` }),
)

beforeAll(async () => {
  await createContact(template.world, template.organization, `+${DIGITS}`, { full_name: 'Ana' })
})

describe('POST /send-template with an unreachable upstream', () => {
  const send = () => template.send({ templateName: 'promo', chatNumber: DIGITS }, 'again')

  it('returns 200 with success false if no template is known yet: a broadcast of one has failed, and no message is recorded', async () => {
    const answer = await send()
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      success: false,
      summary: { total: 1, successful: 0, failed: 1 },
      results: [{ success: false, messageId: null, error: answer.body.error }],
      error: expect.stringMatching(/^Upstream unavailable: ./),
    })
    expect(await template.shown(DIGITS)).toEqual([])
    const { recipients } = (await template.read(`/broadcasts/${answer.body.broadcastId}/recipients`)).body
    expect(recipients).toMatchObject([
      { status: 'failed', errorCode: 'upstream_unavailable', errorMessage: answer.body.error },
    ])
    expect((await template.read(`/broadcasts/${answer.body.broadcastId}`)).body.broadcast).toMatchObject({
      templateName: 'promo',
      totalRecipients: 1,
    })
  })

  it('returns 200 with success false, which an Idempotency-Key does not keep', async () => {
    await template.world.database.pool.query(
      `INSERT INTO templates (organization_id, name, language, status, category, parameter_format, components)
       VALUES ($1, 'promo', 'pt_BR', 'APPROVED', 'MARKETING', 'POSITIONAL', '[{"type": "BODY", "text": "Promo"}]')`,
      [template.organization.id],
    )
    const answer = await send()
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      success: false,
      summary: { total: 1, successful: 0, failed: 1 },
      results: [{ contactName: 'Ana', success: false, messageId: null, error: answer.body.error }],
      error: expect.stringMatching(/^Upstream unavailable: ./),
    })
    expect(await template.shown(DIGITS)).toMatchObject([
      { message: 'Promo', message_status: 'failed', error: { code: 'upstream_unavailable' } },
    ])
    const { recipients } = (await template.read(`/broadcasts/${answer.body.broadcastId}/recipients`)).body
    expect(recipients).toMatchObject([{ status: 'failed', errorCode: 'upstream_unavailable' }])

    const again = await send()
    expect(again.headers.get('idempotent-replayed')).toBeNull()
    expect(again.body.broadcastId).not.toBe(answer.body.broadcastId)
  })
})
