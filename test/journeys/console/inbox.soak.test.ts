import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath } from '../../support/chromium.js'
import { succeed } from '../support/service.js'
import { complaintsBut401, type Stage, signIn, startStage } from './stage.js'

const ANA = '5511900001234'
/** Maximum size of the scripts loaded before the list shows, compressed, in bytes. */
const MOST_SCRIPT = 250_000

describe.skipIf(chromiumPath === null)('the inbox', () => {
  let stage: Stage
  let page: Page

  beforeAll(async () => {
    stage = await startStage()
  })

  afterAll(async () => {
    await stage?.close()
    expect(complaintsBut401(stage)).toEqual([])
  })

  const row = (name: string) =>
    page.getByRole('list', { name: 'Conversations' }).getByRole('listitem').filter({ hasText: name })
  const log = () => page.getByRole('log')
  const bubble = (text: string) => log().getByRole('article').filter({ hasText: text })
  const open = async (name: string) => {
    await row(name).getByRole('link').click()
    await log().getByRole('article').first().waitFor()
  }
  const textsAtSimulator = async () => {
    const { messages } = (await succeed(stage.sim('GET', '/messages?limit=1000'))).body
    return messages.map(({ payload }: { payload: { text?: { body: string } } }) => payload.text?.body)
  }

  it('opens with the printed link, once, and asks for a password', async () => {
    const fresh = await stage.open()
    await signIn(fresh, stage.link)
    await fresh.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
    await fresh.goto('/console/inbox')
    await fresh.getByRole('button', { name: /Account of/ }).click()
    await fresh.getByRole('menuitem', { name: 'Change password' }).click()
    await fresh.getByLabel(/^New password\W*$/).fill('correct horse battery')
    await fresh.getByLabel('Confirm new password').fill('correct horse battery')
    await fresh.getByRole('button', { name: 'Save' }).click()
    await fresh.getByText('Password changed').waitFor()
    await fresh.getByRole('button', { name: /Account of/ }).click()
    await fresh.getByRole('menuitem', { name: 'Sign out' }).click()

    await fresh.getByLabel('Organization').fill('demo')
    await fresh.getByLabel('Email address').fill('owner@demo.example')
    await fresh.getByLabel(/^Password\W*$/).fill('wrong horse battery')
    await fresh.getByRole('button', { name: 'Sign in' }).click()
    await fresh.locator('form').getByRole('alert').waitFor()
    await fresh.getByLabel(/^Password\W*$/).fill('correct horse battery')
    await fresh.getByRole('button', { name: 'Sign in' }).click()
    await fresh.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
    await fresh.context().close()

    const late = await stage.open()
    await late.goto(stage.link)
    await late.getByRole('button', { name: 'Sign in' }).click()
    await late.getByText('This link does not work').waitFor()
    await late.context().close()
    page = await stage.openSignedIn('/inbox')
  })

  it('loads little script', async () => {
    const fresh = await page.context().newPage()
    let script = 0
    let isShown = false
    fresh.on('response', async (response) => {
      if (isShown || !new URL(response.url()).pathname.endsWith('.js')) return
      const { 'content-length': length } = await response.allHeaders()
      script += Number(length)
    })
    await fresh.goto('/console/inbox')
    await fresh.getByRole('list', { name: 'Conversations' }).getByRole('link').first().waitFor()
    isShown = true
    await fresh.close()
    expect(script).toBeGreaterThan(50_000)
    expect(script).toBeLessThan(MOST_SCRIPT)
  })

  it('shows a new message in the list and in the conversation, and sends the reply', async () => {
    await stage.receive({ from: ANA, name: 'Ana Souza', type: 'text', text: { body: 'Is it *still* there?' } })
    await expect.poll(() => row('Ana Souza').textContent()).toContain('Is it')
    await open('Ana Souza')
    await bubble('still').waitFor()
    await stage.receive({ from: ANA, type: 'text', text: { body: 'Hello, anybody?' } })
    await bubble('Hello, anybody?').waitFor()

    await page.getByRole('textbox', { name: 'Message' }).fill('Yes, one is left')
    await page.keyboard.press('Enter')
    await bubble('Yes, one is left').getByRole('img', { name: 'Read' }).waitFor()
    expect(await bubble('Yes, one is left').count()).toBe(1)
    expect(await textsAtSimulator()).toContain('Yes, one is left')
    await expect.poll(() => row('Ana Souza').textContent()).toContain('Yes, one is left')
    // An open conversation is marked as read.
    expect((await stage.request('GET', `/contact?chat_id=${ANA}`)).body.contact.has_unread_messages).toBe(false)
  })

  it('replies to a message, reacts to it, and leaves a note', async () => {
    await stage.receive({ from: ANA, type: 'text', text: { body: 'In blue?' } })
    await bubble('In blue?').hover()
    await bubble('In blue?').getByRole('button', { name: 'Message actions' }).click()
    await page.getByRole('menuitem', { name: 'Reply', exact: true }).click()
    // Replying moves the focus to the field.
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Message')
    await page.keyboard.type('In blue and in green')
    await page.keyboard.press('Enter')
    await bubble('In blue and in green')
      .getByRole('button', { name: /In blue\?/ })
      .waitFor()

    await bubble('In blue?').last().waitFor()
    const asked = log().getByRole('article').filter({ hasText: 'In blue?' }).first()
    await asked.hover()
    await asked.getByRole('button', { name: 'Message actions' }).click()
    await page.getByRole('menuitem', { name: 'React with 👍' }).click()
    await asked.getByText('👍').waitFor()

    await page.getByRole('button', { name: /^Note for the team/ }).click()
    await page.getByRole('textbox', { name: 'Note for the team' }).fill('She is a regular')
    await page.keyboard.press('Enter')
    await log()
      .getByRole('article', { name: /^Note by/ })
      .getByText('She is a regular')
      .waitFor()
    expect(await textsAtSimulator()).not.toContain('She is a regular')
    await page.getByRole('button', { name: /^Note for the team/ }).click()
  })

  it('sends a picture', async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR42mNk+M+ABzCOSmMDAEFbAv0xjEGMAAAAAElFTkSuQmCC',
      'base64',
    )
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: png })
    await page.getByRole('list', { name: 'Attached files' }).getByRole('listitem').waitFor()
    await page.getByRole('textbox', { name: 'Message' }).fill('This one')
    await page.keyboard.press('Enter')
    await bubble('This one')
      .getByRole('button', { name: /^Enlarge/ })
      .waitFor()
    await bubble('This one').getByRole('img', { name: 'Read' }).waitFor()
  })

  it('sends a message later: lists it, changes it, cancels it', async () => {
    await page.getByRole('textbox', { name: 'Message' }).fill('Tomorrow at nine')
    await page.getByRole('button', { name: 'Send later' }).click()
    const dialog = page.getByRole('dialog', { name: 'Send later' })
    await dialog.getByRole('button', { name: 'Schedule' }).click()
    await dialog.getByText('Choose a date and time').first().waitFor()
    await dialog.getByRole('button', { name: 'Date and time' }).click()
    const calendar = page.getByRole('dialog', { name: 'Date and time' })
    await calendar.getByRole('button', { name: 'Next month' }).click()
    await calendar.getByRole('button', { name: /^15 / }).click()
    await calendar.getByRole('button', { name: 'Done' }).click()
    await dialog.getByRole('button', { name: 'Schedule' }).click()

    const list = page.getByRole('region', { name: 'Messages to be sent later' })
    await list.getByRole('button', { name: '1 message to be sent later' }).click()
    await list.getByText('Tomorrow at nine').waitFor()
    expect(await bubble('Tomorrow at nine').count()).toBe(0)
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('')

    await list.getByRole('button', { name: 'Change' }).click()
    const change = page.getByRole('dialog', { name: 'Change' })
    await change.getByRole('textbox', { name: 'Message' }).fill('Tomorrow at ten')
    await change.getByRole('button', { name: 'Schedule' }).click()
    await list.getByText('Tomorrow at ten').waitFor()

    await list.getByRole('button', { name: 'Cancel message' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel message' }).click()
    await list.waitFor({ state: 'detached' })
    expect(await textsAtSimulator()).not.toContain('Tomorrow at ten')
  })

  it('shows a scheduled message in the conversation when it is sent', async () => {
    const later = { phone_number: ANA, message_type: 'text', text: 'Its time has come' }
    await succeed(stage.request('POST', '/send-chat', { ...later, scheduled_at: new Date().toISOString() }))
    await bubble('Its time has come').getByRole('img', { name: 'Read' }).waitFor()
    await page.getByRole('region', { name: 'Messages to be sent later' }).waitFor({ state: 'detached' })
  })

  it('sends a template with its values', async () => {
    await page.getByRole('button', { name: 'Template', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog
      .getByRole('list', { name: 'Templates' })
      .getByRole('button', { name: /oferta_da_semana/ })
      .click()
    await dialog.getByLabel(/name/).first().fill('Ana')
    await dialog.getByLabel(/discount/).fill('15%')
    await dialog.getByLabel(/Button/).fill('spring')
    await dialog.getByText('15%').last().waitFor()
    await dialog.getByRole('button', { name: 'Send', exact: true }).click()
    await bubble('15%').getByRole('img', { name: 'Read' }).waitFor()
  })

  it('says why a message failed and what to do', async () => {
    await succeed(stage.request('POST', '/contact', { phone_number: '5511900000002', full_name: 'Late Luis' }))
    await row('Late Luis').getByRole('link').click()
    // The customer has not written: only a template can be sent, and WhatsApp refuses even that.
    await page.getByText('you can only send a template').waitFor()
    await succeed(stage.request('POST', '/send-template', { templateName: 'hello_world', chatNumber: '5511900000002' }))
    await bubble('last message is more than 24 hours old').getByRole('button', { name: 'Send template' }).waitFor()
  })

  it('loads older messages while scrolling, without a jump', async () => {
    for (let n = 1; n <= 120; n++) {
      await stage.receive({ from: '5511900004321', name: 'Zoe Long', type: 'text', text: { body: `Line ${n}.` } })
    }
    await open('Zoe Long')
    await bubble('Line 120.').waitFor()
    await page.getByRole('log').hover()
    for (let last = 120; last > 1; ) {
      await page.mouse.wheel(0, -700)
      const shown = await numbersShown(page)
      // While scrolling up, no message is skipped and none comes back.
      expect(Math.max(...shown)).toBeLessThanOrEqual(Math.max(last, 120))
      expect(shown).toEqual(shown.map((_, index) => (shown[0] ?? 0) + index))
      if (shown[0] === 1) break
      last = shown[0] ?? last
    }
    await bubble('Line 1.').first().waitFor()
  })

  it('can be used by keyboard', async () => {
    await page.goto('/console/inbox')
    await row('Ana Souza').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('ana')
    await expect.poll(() => page.getByRole('list', { name: 'Conversations' }).getByRole('listitem').count()).toBe(1)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.url()).toMatch(/\/inbox\/[0-9a-f-]{36}/)
    await page.getByRole('textbox', { name: 'Message' }).focus()
    await page.keyboard.type('By keyboard alone')
    await page.keyboard.press('Enter')
    await bubble('By keyboard alone').waitFor()
  })

  it('changes nothing by a key without a modifier, and gives the focus back after a choice of view', async () => {
    const data = { phone_number: '+5511911113333', full_name: 'Kaja Closed' }
    const { contact } = await (await page.request.post('/console/api/contact', { data })).json()
    const isArchived = async () =>
      (await stage.request('GET', `/contact?chat_id=${contact.chat_id}`)).body.contact.archived
    await page.goto(`/console/inbox/${contact.id}`)
    // Without a message of the customer there is no field to type into.
    await page.getByText('The customer has not written yet').waitFor()
    await page.keyboard.type('Tudo certo, ate segunda')
    await page.keyboard.press('Escape')
    expect([await isArchived(), new URL(page.url()).pathname]).toEqual([false, `/console/inbox/${contact.id}`])

    await page.getByRole('radiogroup', { name: 'Filter conversations' }).getByText('Unread').click()
    await page.keyboard.press('/')
    await page.keyboard.type('kaja')
    await expect.poll(() => page.url()).toContain('search=kaja')
    await page.keyboard.press('Escape')
    await page.getByRole('radiogroup', { name: 'Filter conversations' }).getByText('All', { exact: true }).click()

    await page.keyboard.press('Alt+Shift+E')
    await expect.poll(isArchived).toBe(true)
    await expect.poll(() => row('Kaja Closed').count()).toBe(0)
    const text = { type: 'text', text: { body: 'Are you there?' } }
    await stage.receive({ from: contact.chat_id, name: 'Kaja Closed', ...text })
    await expect.poll(() => row('Kaja Closed').textContent()).toContain('Are you there?')
    await page.goto('/console/inbox')
    await open('Ana Souza')
  })

  it('assigns a conversation, and other pages show it', async () => {
    const other = await stage.openSignedIn(new URL(page.url()).pathname.replace('/console', ''))
    await page.getByRole('combobox', { name: 'Assigned to' }).first().click()
    await page.getByRole('option', { name: /\(me\)/ }).click()
    await expect
      .poll(() => other.getByRole('combobox', { name: 'Assigned to' }).first().inputValue())
      .toContain('Olga Owner')
    await other.context().close()
  })

  it('plays the customer of the sandbox', async () => {
    await page.getByRole('button', { name: 'Write as the customer' }).click()
    await page.getByRole('textbox', { name: 'Message from Ana Souza' }).fill('Played by the team')
    await page.getByRole('button', { name: 'Send as customer' }).click()
    await bubble('Played by the team').waitFor()
  })

  it("marks what WhatsApp's agent answers, and says who answers now, in the page's language", async () => {
    const number = { phone_number_id: stage.phoneNumberId }
    const report = (field: string, value: object) =>
      succeed(stage.sim('POST', '/callback', { ...number, field, value: { metadata: number, ...value } }))
    const from = '5511900005566'
    const text = (body: string) => ({ type: 'text', text: { body } })
    const asked = { from, id: 'wamid.asked', timestamp: '1795000000', ...text('Where is my parcel?') }
    const contacts = [{ wa_id: from, profile: { name: 'Rui Costa' } }]
    await report('standby', { standby: { contacts, messages: [asked] } })
    const echo = { id: 'wamid.answered', timestamp: '1795000010', message: { to: from, ...text('It comes tomorrow.') } }
    await report('standby', { standby: { message_echoes: [echo] } })
    const passed = { type: 'control_passed', control_passed: { metadata: 'quer falar com alguém' } }
    const sender = { phone_number: from }
    await report('messaging_handovers', { recipient: number, sender, timestamp: '1795000100', ...passed })
    const reader = await stage.openSignedIn('/inbox', { locale: 'pt-BR' })
    const entry = reader.getByRole('listitem').filter({ hasText: 'Rui Costa' })
    await entry.getByText('Esta conversa foi passada a você').waitFor()
    expect(await entry.textContent()).not.toContain('Sua equipe')
    await entry.getByRole('link').click()
    const shown = reader.getByRole('log').getByRole('article')
    await shown.filter({ hasText: 'Where is my parcel?' }).getByText('O agente do WhatsApp responde a isto').waitFor()
    await shown.filter({ hasText: 'It comes tomorrow.' }).getByText('Agente do WhatsApp', { exact: true }).waitFor()
    await reader.getByRole('log').getByText('Esta conversa foi passada a você: quer falar com alguém').waitFor()
    await reader.context().close()
  })

  it('marks as read, and opens at any message, what the history of a phone brought', async () => {
    const from = '5511900007788'
    const now = Math.floor(Date.now() / 1_000)
    const messages = Array.from({ length: 200 }, (_, n) => ({
      ...{ id: `wamid.past-${n + 1}`, timestamp: String(now - 3_600 + n), type: 'text' },
      text: { body: `Line ${n + 1}.` },
    }))
    await succeed(
      stage.sim('POST', '/history', { phone_number_id: stage.phoneNumberId, threads: [{ with: from, messages }] }),
    )
    const contact = async () => (await stage.request('GET', `/contact?chat_id=${from}`)).body.contact
    const read = () => stage.request('GET', `/conversations?chatNumber=${from}`)
    await expect.poll(async () => (await read()).body.pagination?.totalMessages).toBe(200)
    await stage.receive({ from, name: 'Lia Past', ...(messages[199] as { type: string }) })
    await expect.poll(async () => (await contact()).has_unread_messages).toBe(true)
    await open('Lia Past')
    await bubble('Line 200.').waitFor()
    await expect.poll(async () => (await contact()).has_unread_messages).toBe(false)
    const { id } = await contact()
    await page.goto(`/console/inbox/${id}?message=-190`)
    await bubble('Line 10.').waitFor()
  })

  it("shows a group with what happens in it, in the page's language, and answers it", async () => {
    const group = { phone_number_id: stage.phoneNumberId, group_id: 'Z3JvdXAtb2YtdGhlLXNhbXBsZXM' }
    await succeed(stage.sim('POST', '/group', { ...group, event: 'created', subject: 'Friends of mugs' }))
    const reader = await stage.openSignedIn('/inbox', { locale: 'pt-BR' })
    const entry = reader.getByRole('listitem').filter({ hasText: 'Friends of mugs' })
    await entry.getByText('O grupo foi criado').waitFor()
    await succeed(stage.sim('POST', '/group', { ...group, event: 'joined', people: [{ from: ANA }] }))
    await entry.getByText('Alguém entrou no grupo').waitFor()
    await entry.getByRole('link').click()
    await reader.getByRole('log').getByText(`+${ANA} entrou`).waitFor()
    await reader.context().close()

    await stage.receive({ ...group, from: ANA, name: 'Ana Souza', type: 'text', text: { body: 'Is there tea, too?' } })
    await page.goto('/console/inbox')
    await open('Friends of mugs')
    await bubble('Is there tea, too?').getByText('Ana Souza', { exact: true }).waitFor()
    await page.getByRole('textbox', { name: 'Message' }).fill('There is')
    await page.keyboard.press('Enter')
    await bubble('There is').getByRole('img', { name: 'Read' }).waitFor()
    expect(await textsAtSimulator()).toContain('There is')

    expect(await page.getByText('Hidden by WhatsApp').count()).toBe(0)
    await succeed(stage.sim('POST', '/group', { ...group, event: 'deleted' }))
    await page.getByText('The group was deleted: nothing can be sent to it.').waitFor()
  })

  it('keeps the details within the window, even with a long name', async () => {
    const data = { phone_number: '+5511911112222', full_name: 'Maximiliana'.repeat(20) }
    const { contact } = await (await page.request.post('/console/api/contact', { data })).json()
    await page.goto(`/console/inbox/${contact.id}`)
    const details = page.getByRole('complementary')
    await details.getByText('Maximiliana').first().waitFor()
    await page.getByText('The customer has not written yet').waitFor()
    const { x, width } = (await details.getByRole('button', { name: 'Close' }).boundingBox()) ?? { x: 0, width: 0 }
    expect(x).toBeGreaterThan(0)
    expect(x + width).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0)
  })
})

async function numbersShown(page: Page): Promise<number[]> {
  const texts = await page.getByRole('log').getByRole('article').allTextContents()
  return texts.flatMap((text) => {
    const number = /Line (\d+)\./.exec(text)?.[1]
    return number === undefined ? [] : [Number(number)]
  })
}
