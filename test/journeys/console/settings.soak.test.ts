import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath } from '../../support/chromium.js'
import { call, succeed } from '../support/service.js'
import { complaintsBut401, type Stage, seriousFindings, signIn, startStage } from './stage.js'

/** A webhook endpoint that keeps what is posted to it. */
interface Receiver {
  url: string
  posted: { id: string | undefined; type: string }[]
  /** Sets the status of the following answers. */
  answer(status: number): void
  close(): Promise<void>
}

describe.skipIf(chromiumPath === null)('the settings', () => {
  let stage: Stage
  let page: Page
  let receiver: Receiver

  beforeAll(async () => {
    receiver = await startReceiver()
    stage = await startStage()
    page = await stage.openSignedIn('/settings')
  })

  afterAll(async () => {
    await stage?.close()
    await receiver?.close()
    expect(complaintsBut401(stage)).toEqual([])
  })

  const dialog = (name: string) => page.getByRole('dialog', { name, exact: true })
  const goTo = async (section: string) => {
    await page
      .getByRole('navigation', { name: 'Settings sections' })
      .getByRole('link', { name: section, exact: true })
      .click()
    await page.getByRole('heading', { level: 1, name: section, exact: true }).waitFor()
  }

  it('show how long data is kept, and a legal hold', async () => {
    const [{ id }] = (await stage.admin('GET', '/organizations')).body.organizations
    await stage.admin('PATCH', `/organizations/${id}`, { message_retention_days: 365 })
    await stage.admin('PUT', `/organizations/${id}/hold`, { reason: 'Case 12/2026', by: 'Ana' })
    await goTo('Organization')
    await page.reload()
    await page.getByText('365 days').waitFor()
    await page.getByText('as long as their messages').waitFor()
    await page.getByText(/^Since .+, set by Ana: Case 12\/2026\./).waitFor()
    await stage.admin('DELETE', `/organizations/${id}/hold`)
    await page.reload()
    await page.getByText('365 days').waitFor()
    expect(await page.getByText('A legal hold is on').count()).toBe(0)
  })

  it('create an API key that is shown once and works until it is revoked', async () => {
    await goTo('API keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    await dialog('Create key').getByRole('textbox', { name: 'Name' }).fill('Till')
    await dialog('Create key')
      .getByRole('radiogroup', { name: 'Permissions' })
      .getByRole('radio', { name: 'Everything' })
      .waitFor()
    await dialog('Create key').getByRole('button', { name: 'Create key' }).click()
    const key = await dialog('New API key').getByRole('textbox', { name: 'API key' }).inputValue()
    expect((await call(`${stage.url}/templates`, 'GET', { key })).status).toBe(200)
    // Only its button closes the dialog, and the key is not shown again.
    await page.keyboard.press('Escape')
    await dialog('New API key').getByRole('button', { name: "I've saved it" }).click()
    await page.getByRole('row', { name: /^Till/ }).waitFor()
    expect(await page.content()).not.toContain(key)
    await page.reload()
    await page.getByRole('row', { name: /^Till .*Active/ }).waitFor()
    expect(await page.content()).not.toContain(key)

    await page.getByRole('button', { name: 'Actions for Till' }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await dialog('Revoke “Till”?').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('row', { name: /^Till/ }).waitFor({ state: 'detached' })
    expect((await call(`${stage.url}/templates`, 'GET', { key })).status).toBe(401)
    await page.getByRole('switch', { name: 'Show 1 inactive key' }).press('Space')
    await page.getByRole('row', { name: /^Till .*Revoked/ }).waitFor()
  })

  it('add a webhook, send a test, and replay a failed delivery', async () => {
    await goTo('Webhooks')
    await page.getByRole('button', { name: 'Add webhook' }).click()
    await dialog('Add webhook').getByRole('textbox', { name: 'URL' }).fill(receiver.url)
    await dialog('Add webhook').getByRole('button', { name: 'Add webhook' }).click()
    const secret = await dialog('Webhook secret').getByRole('textbox', { name: 'Secret' }).inputValue()
    expect(secret).toMatch(/^whsec_/)
    await dialog('Webhook secret').getByRole('button', { name: "I've saved it" }).click()
    await page.getByRole('list', { name: 'Webhooks' }).getByRole('link').click()

    await page.getByText('No deliveries yet').waitFor()
    await page.getByRole('button', { name: 'Send test' }).click()
    await page.getByRole('row', { name: /Delivered.*1 attempt · 200/ }).waitFor()
    expect(receiver.posted).toHaveLength(1)

    receiver.answer(500)
    await page.getByRole('button', { name: 'Send test' }).click()
    await page.getByRole('row', { name: /1 attempt · 500/ }).waitFor()
    await page
      .getByRole('row', { name: /1 attempt · 500/ })
      .getByRole('button')
      .click()
    await dialog('Delivery').getByText('500').first().waitFor()
    const { id, type } = receiver.posted[1] ?? {}
    await dialog('Delivery').getByRole('region', { name: 'Payload' }).getByText(String(type)).waitFor()
    receiver.answer(200)
    await dialog('Delivery').getByRole('button', { name: 'Replay' }).click()
    await page.getByText('The event will be delivered again').waitFor()
    await expect.poll(() => receiver.posted.slice(2)).toContainEqual({ id, type })
    await dialog('Delivery').getByRole('button', { name: 'Close' }).click()
    await expect.poll(() => page.getByRole('row', { name: /Delivered.* · 200/ }).count()).toBeGreaterThanOrEqual(2)
  })

  it('connect a simulated phone with its code', async () => {
    await goTo('Instances')
    const other = await page.context().newPage()
    await other.goto('/console/settings/instances')
    await other.getByRole('heading', { level: 1, name: 'Instances' }).waitFor()

    await page.getByRole('button', { name: 'Create instance' }).first().click()
    await dialog('Create instance').getByRole('textbox', { name: 'Name' }).fill('counter')
    await dialog('Create instance')
      .getByRole('radio', { name: /^Simulated phone/ })
      .click()
    await dialog('Create instance').getByRole('button', { name: 'Create instance' }).click()
    const connecting = dialog('Connect “counter”')
    const code = connecting.getByRole('img', { name: 'QR code that links a phone to this instance' })
    await code.waitFor()
    await expect.poll(() => code.evaluate((image) => Reflect.get(image, 'naturalWidth'))).toBeGreaterThan(0)
    const card = (where: Page) => where.getByRole('listitem').filter({ hasText: 'counter' })
    await card(other).getByText('Connecting').waitFor()
    await connecting.getByRole('button', { name: 'Scan with simulated phone' }).click()
    await connecting.getByText('“counter” is connected').waitFor()
    await connecting.getByRole('button', { name: 'Done' }).click()
    await card(page).getByText('Connected', { exact: true }).waitFor()
    // Other tabs show it too.
    await card(other).getByText('Connected', { exact: true }).waitFor()
    await other.close()
  })

  it('test the credentials of the number before they are saved', async () => {
    await goTo('Business number')
    const test = page.getByRole('button', { name: 'Test connection' })
    const works = page.getByText('The connection works')
    const fails = page.getByText('The connection does not work')
    await test.click()
    await works.waitFor()
    await page.getByRole('group', { name: 'Credentials' }).getByLabel('Access token').fill('a wrong token')
    await test.click()
    await fails.waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    await test.click()
    await works.waitFor()
    await page.getByRole('textbox', { name: 'Phone number ID' }).fill('404404404')
    await test.click()
    await fails.waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    // Nothing was saved.
    await page.reload()
    await test.click()
    await works.waitFor()
  })

  it('add a member, who signs in with a link and sees no settings', async () => {
    await goTo('Team')
    await page.getByRole('button', { name: 'Add member' }).click()
    await dialog('Add member').getByRole('textbox', { name: 'Name' }).fill('Bia Agent')
    await dialog('Add member').getByRole('textbox', { name: 'Email address' }).fill('bia@demo.example')
    await dialog('Add member')
      .getByRole('radio', { name: /^Agent/ })
      .click()
    await dialog('Add member').getByRole('button', { name: 'Add member' }).click()
    const handed = dialog('Sign-in link for Bia Agent')
    const link = await handed.getByRole('textbox', { name: 'Sign-in link' }).inputValue()
    await handed.getByRole('button', { name: "I've saved it" }).click()
    await page.getByRole('row', { name: /^Bia Agent .*Agent.*Link/ }).waitFor()

    const hers = await stage.open()
    await signIn(hers, link)
    await hers.getByRole('button', { name: 'Account of Bia Agent' }).waitFor()
    await hers.getByRole('link', { name: 'Broadcasts' }).waitFor()
    expect(await hers.getByRole('link', { name: 'Settings' }).count()).toBe(0)
    await hers.goto('/console/settings/keys')
    await hers.getByRole('heading', { level: 1, name: 'Only owners can change the settings' }).waitFor()
    // The service refuses her too.
    expect((await hers.request.get('/console/api/settings')).status()).toBe(403)

    // She sees what nobody can send now, and whom to ask.
    const report = (value: object) =>
      succeed(stage.sim('POST', '/callback', { phone_number_id: stage.phoneNumberId, field: 'account_update', value }))
    const expiration = Date.parse('2030-12-01T12:00:00Z') / 1_000
    const restriction_info = [{ restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration }]
    await report({ event: 'ACCOUNT_RESTRICTION', restriction_info })
    const banner = hers.getByRole('status').filter({ hasText: 'templates and broadcasts cannot be sent' })
    await banner.getByText('This ends on 1 Dec 2030').waitFor()
    await banner.getByText('Ask an owner of your team').waitFor()
    expect(await seriousFindings(hers)).toEqual([])
    await page.getByText('templates and broadcasts cannot be sent').waitFor()
    await report({ event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'REINSTATE' } })
    await banner.waitFor({ state: 'hidden' })

    await page.getByRole('button', { name: 'Actions for Bia Agent' }).click()
    await page.getByRole('menuitem', { name: 'Remove' }).click()
    await dialog('Remove Bia Agent?').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('row', { name: /^Bia Agent/ }).waitFor({ state: 'detached' })
    await hers.reload()
    await hers.getByRole('button', { name: 'Sign in' }).waitFor()
    await hers.context().close()
  })
})

async function startReceiver(): Promise<Receiver> {
  let status = 200
  const posted: Receiver['posted'] = []
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { type } = JSON.parse(Buffer.concat(chunks).toString())
    posted.push({ id: request.headers['webhook-id']?.toString(), type })
    response.writeHead(status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    posted,
    answer: (next) => {
      status = next
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
