import { beforeAll, describe, expect, it } from 'vitest'
import { createInstance, type TestInstance } from '../../support/instances.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let instance: TestInstance

beforeAll(async () => {
  instance = await createInstance(world, organization)
})

const PATHS = [
  ...['POST /message/sendStatus', 'POST /chat/markMessageAsPlayed'],
  ...['POST /group/create', 'PUT /group/updateGroupSubject', 'GET /group/findGroupInfos', 'GET /group/fetchAllGroups'],
  ...['POST /group/updateParticipant', 'DELETE /group/leaveGroup', 'GET /label/findLabels', 'POST /label/handleLabel'],
  ...['POST /call/offer', 'POST /proxy/set', 'GET /proxy/find', 'POST /business/getCatalog'],
  ...['POST /business/getCollections', 'POST /template/create', 'GET /template/find', 'POST /template/edit'],
  ...['DELETE /template/delete', 'POST /websocket/set', 'GET /websocket/find', 'POST /rabbitmq/set', 'GET /sqs/find'],
  ...['POST /nats/set', 'POST /kafka/set', 'GET /pusher/find', 'POST /chatwoot/set', 'GET /chatwoot/find'],
  ...['POST /typebot/create', 'PUT /typebot/update/1', 'DELETE /openai/delete/1', 'GET /dify/fetch/1'],
  ...['POST /flowise/changeStatus', 'POST /n8n/settings', 'GET /evoai/find', 'POST /evolutionBot/create'],
  ...['POST /s3/getMedia', 'POST /s3/getMediaUrl', 'POST /baileys/onWhatsapp', 'POST /chamaai/set'],
]

describe.each(PATHS.map((path) => ({ path })))('$path', ({ path: route }) => {
  const [method = '', path = ''] = route.split(' ')
  const ask = (name: string, options: object) => world.request(method, `/gateway${path}/${name}`, options)

  it('returns 501 with a reason for the key and the token, for any body', async () => {
    const body = method === 'GET' ? undefined : '{'
    for (const key of [organization.key, instance.token]) {
      const answer = await ask('shop', { key, body })
      expect(answer.status).toBe(501)
      expect(answer.body).toEqual({
        status: 501,
        error: 'Not Implemented',
        response: { message: [expect.stringMatching(/^[A-Z].{30,}[^.]$/)] },
      })
    }
  })

  it('returns 404 for an unknown instance, 401 without a key', async () => {
    expect((await ask('nobody', { key: organization.key })).body.response.message).toEqual([
      'The "nobody" instance does not exist',
    ])
    expect((await ask('shop', {})).status).toBe(401)
  })
})

it('returns 501 for verify-creds with a key', async () => {
  for (const key of [organization.key, instance.token]) {
    expect((await world.request('POST', '/gateway/verify-creds', { key, body: '{' })).status).toBe(501)
  }
  expect((await world.request('POST', '/gateway/verify-creds', {})).status).toBe(401)
})

it("returns 404 for another organization's instance", async () => {
  const other = await world.createOrganization()
  await createInstance(world, other, { instanceName: 'foreign' })
  const answer = await world.request('GET', '/gateway/group/fetchAllGroups/foreign', { key: organization.key })
  expect(answer.body.response.message).toEqual(['The "foreign" instance does not exist'])
})
