import { randomUUID } from 'node:crypto'
import type { Examples } from '../../../src/http/description/examples.js'
import { createInstance } from '../../support/instances.js'
import type { World } from '../../support/world.js'
import { createRecorder, type Recorder } from './recorder.js'

const UNKNOWN = { id: randomUUID() }

/** Records examples of the admin API. */
export async function recordAdmin(world: World): Promise<Examples> {
  const recorder = await createRecorder(world, '/docs/admin.json', world.adminToken)
  const { record, refuse } = recorder
  const globex = { name: 'Globex', slug: 'globex' }
  const made = await record('organizations.create', { body: { ...globex, country: 'BR' } })
  await refuse('organizations.create', { body: globex })
  const path = { id: made.body.organization.id }
  await record('organizations.get', { path })
  await record('organizations.list')
  await refuse('organizations.list', { key: 'wrong' })
  await record('organizations.update', { path, body: { timezone: 'America/Sao_Paulo' } })
  await refuse('organizations.update', { path, body: { timezone: 'Brazil' } })
  await recordConnections(world, recorder, path)
  await recordKeys(recorder, path)
  await recordMembers(recorder, path)
  await record('organizations.previewRetention', { path, body: { message_retention_days: 365 } })
  await refuse('organizations.previewRetention', { path, body: { message_retention_days: 7 } })
  await record('organizations.setHold', { path, body: { reason: 'Case 12/2026', by: 'Ana Ribeiro' } })
  await refuse('organizations.setHold', { path, body: { reason: 'Case 13/2026' } })
  await record('organizations.releaseHold', { path })
  await refuse('organizations.releaseHold', { path })
  await record('organizations.delete', { path })
  for (const verb of ['get', 'delete', 'getStorefront']) await refuse(`organizations.${verb}`, { path: UNKNOWN })
  return recorder.result({ [world.app.url]: 'https://chat.example.com' })
}

/** The organization gets a further number first. */
async function recordNumbers(
  world: World,
  { record, refuse }: Pick<Recorder, 'record' | 'refuse'>,
  path: { id: string },
  upstream: { phone_number_id: string; business_account_id: string; access_token: string; app_secret: string },
): Promise<void> {
  const { phone_number_id: first, business_account_id: businessId, access_token, app_secret } = upstream
  const phoneNumberId = '106540352242933'
  const issued = await world.admin('POST', `/organizations/${path.id}/keys`, { name: 'further' })
  const credentials = { accessToken: access_token, appSecret: app_secret, businessId }
  const key: string = issued.body.api_key.key
  await createInstance(world, { key }, { instanceName: 'second', number: phoneNumberId, ...credentials })
  await record('organizations.listNumbers', { path })
  await refuse('organizations.listNumbers', { path: UNKNOWN })
  await record('organizations.removeNumber', { path: { ...path, phoneNumberId } })
  await refuse('organizations.removeNumber', { path: { ...path, phoneNumberId: first } })
}

async function recordConnections(world: World, { record, refuse }: Recorder, path: { id: string }): Promise<void> {
  const upstream = {
    phone_number_id: '106540352242922',
    business_account_id: '102290129340398',
    access_token: 'EAAG-example',
    app_secret: 'a1b2c3d4',
    verify_token: 'my-verify-token',
  }
  await record('organizations.connectUpstream', { path, body: upstream })
  await refuse('organizations.connectUpstream', { path, body: { ...upstream, app_secret: '' } })
  const { access_token, app_secret } = upstream
  await record('organizations.connectNumber', { path, body: { access_token, app_secret } })
  await refuse('organizations.connectNumber', { path, body: { access_token, pin: '1234' } })
  await record('organizations.getHealth', { path })
  await refuse('organizations.getHealth', { path: UNKNOWN })
  await recordNumbers(world, { record, refuse }, path, upstream)
  const shop = { url: 'https://globex.example', access_token: 'shpat_example', webhook_secret: 'secret' }
  await record('organizations.connectStorefront', { path, body: shop })
  await refuse('organizations.connectStorefront', { path, body: { ...shop, url: 'globex' } })
  await record('organizations.getStorefront', { path })
}

async function recordKeys({ record, refuse }: Recorder, path: { id: string }): Promise<void> {
  const key = await record('keys.create', {
    path,
    body: { name: 'Website', scopes: ['contacts:read', 'messages:send'] },
  })
  await refuse('keys.create', { path, body: { name: 'Website', scopes: ['everything'] } })
  const rotated = await record('keys.rotate', { path: { id: key.body.api_key.id }, body: { overlap_seconds: 3600 } })
  await refuse('keys.rotate', { path: UNKNOWN, body: {} })
  await record('keys.list', { path })
  await refuse('keys.list', { path: UNKNOWN })
  await record('keys.revoke', { path: { id: rotated.body.api_key.id } })
  await refuse('keys.revoke', { path: UNKNOWN })
}

async function recordMembers({ record, refuse }: Recorder, path: { id: string }): Promise<void> {
  const carla = { email: 'carla@globex.example', full_name: 'Carla Dias', role: 'owner' }
  const added = await record('members.create', { path, body: carla })
  await refuse('members.create', { path, body: carla })
  const ofCarla = { id: added.body.member.id }
  await record('members.list', { path })
  await refuse('members.list', { path: UNKNOWN })
  await record('members.createSignInLink', { path: ofCarla })
  await refuse('members.createSignInLink', { path: UNKNOWN })
  await record('members.remove', { path: ofCarla })
  await refuse('members.remove', { path: UNKNOWN })
}
