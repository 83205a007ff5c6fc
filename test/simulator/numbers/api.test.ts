import { beforeAll, describe, expect, it } from 'vitest'
import { accessToken, call, errorOf, phoneNumberId, registration, useWorld } from '../../support/simulator.js'

const OTHER = '106540352242999'
const OTHER_TOKEN = 'token-of-another-number'

const world = useWorld()

beforeAll(async () => {
  const other = { ...registration(world.receiver.url), access_token: OTHER_TOKEN }
  await world.control('PUT', `/numbers/${OTHER}`, other)
})

const ask = (path: string, token: string | null = accessToken) =>
  call('GET', `${world.simulator.upstreamUrl}/${path}`, undefined, token)

describe('GET /{phone_number_id}', () => {
  it('returns the default fields of a number', async () => {
    const { status, body } = await ask(phoneNumberId)
    expect([status, body]).toEqual([
      200,
      {
        verified_name: 'Shop 15550783881',
        code_verification_status: 'VERIFIED',
        display_phone_number: '15550783881',
        quality_rating: 'GREEN',
        platform_type: 'CLOUD_API',
        throughput: { level: 'STANDARD' },
        id: phoneNumberId,
      },
    ])
  })

  it('returns the requested fields and the id', async () => {
    const { body } = await ask(`${phoneNumberId}?fields=display_phone_number,status`)
    expect(body).toEqual({ display_phone_number: '15550783881', status: 'CONNECTED', id: phoneNumberId })
    for (const query of ['fields=nothing', 'fields=id&fields=status']) {
      const refused = await ask(`${phoneNumberId}?${query}`)
      expect([refused.status, errorOf(refused.body).code]).toEqual([400, 100])
    }
  })

  it.each([
    ['without a token', phoneNumberId, null, { status: 401, error: { code: 104 } }],
    ['with an unknown token', phoneNumberId, 'stolen', { status: 401, error: { code: 190 } }],
    [
      'with the token of another number',
      phoneNumberId,
      OTHER_TOKEN,
      { status: 400, error: { code: 100, error_subcode: 33 } },
    ],
    [
      'of a number that is not registered',
      '106540352242000',
      accessToken,
      { status: 400, error: { code: 100, error_subcode: 33 } },
    ],
  ])('refuses a call %s', async (_name, id, token, { status, error }) => {
    const answer = await ask(id, token)
    expect([answer.status, answer.body.error]).toEqual([status, expect.objectContaining(error)])
  })
})
