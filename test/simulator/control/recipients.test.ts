import { beforeEach, describe, expect, it } from 'vitest'
import { errorOf, useWorld } from '../../support/simulator.js'

const world = useWorld()

beforeEach(async () => {
  await world.control('POST', '/reset')
  await world.control('POST', '/settings', { delay_ms: 1 })
  world.receiver.taken.length = 0
})

describe('a recipient that is set to fail', () => {
  it.each([
    [131050, 400, 'Unable to deliver the message'],
    [131049, 400, 'This message was not delivered to maintain healthy ecosystem engagement.'],
    [130472, 400, "User's number is part of an experiment"],
    [131048, 400, 'Spam rate limit hit'],
    [131016, 500, 'Service unavailable'],
    [131031, 403, 'Business Account locked'],
  ])('refuses each send with %i', async (code, status, title) => {
    await world.control('PUT', '/recipients/16505551234', { code })
    for (const _attempt of [1, 2]) {
      const answer = await world.sendText('16505551234')
      expect(answer.status).toBe(status)
      expect(errorOf(answer.body)).toMatchObject({
        code,
        message: `(#${code}) ${title}`,
        error_data: { messaging_product: 'whatsapp', details: expect.any(String) },
      })
    }
    expect((await world.sendText('16505551235')).status).toBe(200)
  })

  it('refuses with errors without details', async () => {
    await world.control('PUT', '/recipients/16505551234', { code: 190, by: 'answer' })
    const { status, body } = await world.sendText('16505551234')
    expect([status, errorOf(body).code]).toEqual([401, 190])
    expect(errorOf(body)).not.toHaveProperty('error_data')
  })

  it('accepts a message, and one status reports the failure', async () => {
    await world.control('PUT', '/recipients/16505551234', { code: 131050, by: 'status' })
    const { status, body } = await world.send({
      messaging_product: 'whatsapp',
      to: '16505551234',
      text: { body: 'hi' },
      biz_opaque_callback_data: 'ours',
    })
    await world.idle()
    const [{ id }] = body.messages as [{ id: string }]
    expect(status).toBe(200)
    expect(world.receiver.statuses()).toEqual([
      {
        id,
        status: 'failed',
        timestamp: expect.stringMatching(/^\d+$/),
        recipient_id: '16505551234',
        biz_opaque_callback_data: 'ours',
        errors: [
          {
            code: 131050,
            title: 'Unable to deliver the message',
            message: 'Unable to deliver the message',
            error_data: {
              details: 'This recipient has chosen to stop receiving marketing messages from your business.',
            },
          },
        ],
      },
    ])
  })

  it('is the same in every form of its number, and may be a user id', async () => {
    await world.control('PUT', '/recipients/+5531987654321', { code: 131049 })
    expect(errorOf((await world.sendText('553187654321')).body).code).toBe(131049)
    await world.control('PUT', '/recipients/US.134912', { code: 131050 })
    const answer = await world.send({ messaging_product: 'whatsapp', recipient: 'US.134912', text: { body: 'hi' } })
    expect(errorOf(answer.body).code).toBe(131050)
    expect((await world.control('GET', '/recipients')).body.recipients).toEqual([
      { recipient: '553187654321', code: 131049, by: 'answer' },
      { recipient: 'US.134912', code: 131050, by: 'answer' },
    ])
  })

  it('takes precedence over a magic number, until it is removed', async () => {
    await world.control('PUT', '/recipients/15550000001', { code: 131049 })
    expect(errorOf((await world.sendText('15550000001')).body).code).toBe(131049)
    expect((await world.control('DELETE', '/recipients/15550000001')).body).toEqual({ success: true })
    expect(errorOf((await world.sendText('15550000001')).body).code).toBe(131026)
    expect(await world.control('DELETE', '/recipients/15550000001')).toMatchObject({
      status: 404,
      body: { error: 'Recipient not found' },
    })
  })

  it('is removed by a reset', async () => {
    await world.control('PUT', '/recipients/16505551234', { code: 131049 })
    await world.control('POST', '/reset')
    expect((await world.control('GET', '/recipients')).body).toEqual({ success: true, recipients: [] })
    expect((await world.sendText('16505551234')).status).toBe(200)
  })

  it.each([
    ['16505551234', {}, 'code is required'],
    ['16505551234', { code: 7 }, 'code must be one of 1, 2, 4'],
    ['16505551234', { code: '131050' }, 'code must be one of'],
    ['16505551234', { code: 131050, by: 'letter' }, 'by must be one of answer, status'],
    ['anna', { code: 131050 }, 'The recipient must be a phone number'],
  ])('cannot be %s with %j', async (recipient, body, message) => {
    expect(await world.control('PUT', `/recipients/${recipient}`, body)).toMatchObject({
      status: 400,
      body: { success: false, message: expect.stringContaining(message) },
    })
    expect((await world.control('GET', '/recipients')).body.recipients).toEqual([])
  })
})
