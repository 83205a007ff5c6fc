import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath } from '../../support/chromium.js'
import { hasFfmpeg } from '../../support/ffmpeg.js'
import { ogg, webp } from '../../support/media.js'
import { succeed } from '../support/service.js'
import { complaintsBut401, type Stage, seriousFindings, startStage } from './stage.js'

const ANA = '5511900001234'

describe.skipIf(chromiumPath === null)('the composer', () => {
  let stage: Stage
  let page: Page

  beforeAll(async () => {
    stage = await startStage()
    await putTemplates(stage)
    await stage.receive({ from: ANA, name: 'Ana Souza', type: 'text', text: { body: 'Hello?' } })
    page = await stage.openSignedIn('/inbox')
    await page
      .getByRole('list', { name: 'Conversations' })
      .getByRole('listitem')
      .filter({ hasText: 'Ana Souza' })
      .getByRole('link')
      .click()
    await bubble('Hello?').waitFor()
  })

  afterAll(async () => {
    await stage?.close()
    expect(complaintsBut401(stage)).toEqual([])
  })

  const bubble = (text: string) => page.getByRole('log').getByRole('article').filter({ hasText: text })
  const dialog = () => page.getByRole('dialog')
  /** What the upstream got last. */
  const sent = async () => (await succeed(stage.sim('GET', '/messages?limit=1'))).body.messages[0].payload
  const openOffer = async (purpose: string) => {
    await page.getByRole('button', { name: 'More message types' }).click()
    await page.getByRole('menuitem', { name: 'Message with buttons' }).click()
    await dialog().getByRole('combobox', { name: 'What the button does' }).click()
    await page.getByRole('option', { name: purpose }).click()
  }
  const attach = (name: string, mimeType: string, buffer: Buffer) =>
    page.locator('input[type=file]').first().setInputFiles({ name, mimeType, buffer })
  const openTemplates = async () => {
    await page.getByRole('button', { name: 'Template', exact: true }).click()
    return dialog().getByRole('list', { name: 'Templates' })
  }

  it('sends a link, and asks for what is missing', async () => {
    await openOffer('Opens a link')
    await dialog().getByLabel(/^Text/).fill('All colours')
    await dialog()
      .getByLabel(/^Button/)
      .fill('See all')
    await dialog().getByLabel(/^Link/).fill('shop.example')
    await dialog().getByRole('button', { name: 'Send', exact: true }).click()
    await dialog().getByText('Enter a link that begins with https://').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await dialog().getByLabel(/^Link/).fill('https://shop.example/mugs')
    await dialog().getByRole('button', { name: 'Send', exact: true }).click()
    await bubble('All colours').getByRole('img', { name: 'Read' }).waitFor()
    const parameters = { display_text: 'See all', url: 'https://shop.example/mugs' }
    expect((await sent()).interactive).toMatchObject({ type: 'cta_url', action: { parameters } })
  })

  it('sends pictures and videos to swipe through, as many as WhatsApp takes', async () => {
    await openOffer('Shows pictures or videos to swipe through')
    const card = (number: number) => dialog().getByRole('group', { name: `Card ${number}`, exact: true })
    const send = dialog().getByRole('button', { name: 'Send', exact: true })
    await dialog().getByLabel(/^Text/).first().fill('Which one?')
    await dialog().getByRole('combobox', { name: 'Buttons of each card' }).click()
    await page.getByRole('option', { name: 'Two answers' }).click()
    for (let number = 3; number <= 10; number += 1) await dialog().getByRole('button', { name: 'Add card' }).click()
    await card(10).waitFor()
    expect(await dialog().getByRole('button', { name: 'Add card' }).count()).toBe(0)
    for (let number = 10; number > 2; number -= 1) {
      await dialog()
        .getByRole('button', { name: `Remove card ${number}` })
        .click()
    }
    expect(
      await dialog()
        .getByRole('button', { name: /^Remove card/ })
        .count(),
    ).toBe(0)

    await card(2).getByRole('combobox', { name: 'Picture or video' }).click()
    await page.getByRole('option', { name: 'Video', exact: true }).click()
    await card(1)
      .getByLabel(/^URL of the picture/)
      .fill('https://files.example/blue.jpg')
    await card(2)
      .getByLabel(/^URL of the video/)
      .fill('files.example/red.mp4')
    await card(2).getByLabel(/^Text/).fill('Red, too')
    for (const number of [1, 2]) {
      await card(number)
        .getByLabel(/^Button 1/)
        .fill('Take it')
      await card(number)
        .getByLabel(/^Button 2/)
        .fill('More')
    }
    await send.click()
    await card(2).getByText('Enter a link that begins with https://').waitFor()
    expect(
      await card(2)
        .getByLabel(/^URL of the video/)
        .evaluate((field) => field === field.ownerDocument.activeElement),
    ).toBe(true)
    expect(await seriousFindings(page)).toEqual([])
    await card(2)
      .getByLabel(/^URL of the video/)
      .fill('https://files.example/red.mp4')
    await send.click()
    await bubble('Which one?').getByText('Red, too').waitFor()
    await bubble('Which one?').getByRole('img', { name: 'Read' }).waitFor()
    const video = bubble('Which one?').getByRole('link', { name: 'Video' })
    expect(await video.getAttribute('href')).toBe('https://files.example/red.mp4')
    const buttons = (number: number) =>
      ['Take it', 'More'].map((title, n) => ({ quick_reply: { id: `card_${number}_button_${n + 1}`, title } }))
    expect((await sent()).interactive).toMatchObject({
      type: 'carousel',
      body: { text: 'Which one?' },
      action: {
        cards: [
          { header: { image: { link: 'https://files.example/blue.jpg' } }, action: { buttons: buttons(1) } },
          { header: { video: { link: 'https://files.example/red.mp4' } }, action: { buttons: buttons(2) } },
        ],
      },
    })
  })

  it('asks for the location', async () => {
    await openOffer('Asks for the location')
    await dialog().getByLabel(/^Text/).fill('Where are you?')
    await dialog().getByRole('button', { name: 'Send', exact: true }).click()
    await bubble('Where are you?').getByText('Send location').waitFor()
    await bubble('Where are you?').getByRole('img', { name: 'Read' }).waitFor()
    expect((await sent()).interactive).toMatchObject({ type: 'location_request_message' })
  })

  it('sends a sound as a voice note or as a file', async () => {
    const strip = page.getByRole('list', { name: 'Attached files' })
    const voices = []
    for (const isVoice of [true, false]) {
      await attach('note.ogg', 'audio/ogg', ogg())
      const toggle = strip.getByRole('switch', { name: 'Voice note' })
      if (!isVoice) await toggle.click({ force: true })
      const answer = page.waitForResponse((response) => response.url().includes('/files?'))
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      expect((await answer).status()).toBe(200)
      voices.push((await sent()).audio.voice)
    }
    expect(voices).toEqual([true, undefined])
  })

  it.runIf(hasFfmpeg)('sends a WebP file as a sticker', async () => {
    await attach('smile.webp', 'image/webp', webp())
    const strip = page.getByRole('list', { name: 'Attached files' })
    await strip.getByRole('switch', { name: 'Sticker' }).click({ force: true })
    expect(await seriousFindings(page)).toEqual([])
    await page.getByRole('textbox', { name: 'Message' }).fill('For you')
    await page.keyboard.press('Enter')
    // A sticker has no caption: the text follows.
    await bubble('For you').getByRole('img', { name: 'Read' }).waitFor()
    await page.getByRole('log').getByRole('img', { name: 'Sticker' }).waitFor()
    await expect
      .poll(async () => {
        const { messages } = (await succeed(stage.sim('GET', '/messages?limit=2'))).body
        return messages.map(({ payload }: { payload: { type: string } }) => payload.type)
      })
      .toEqual(['sticker', 'text'])
  })

  it('shows the customer that somebody is typing, not with every letter, and not for notes', async () => {
    const fresh = await page.context().newPage()
    const statuses: Promise<number>[] = []
    fresh.on('response', (response) => {
      if (response.url().endsWith('/conversations/typing')) statuses.push(Promise.resolve(response.status()))
    })
    await fresh.goto(page.url())
    await fresh.getByRole('button', { name: /^Note for the team/ }).click()
    await fresh.getByRole('textbox', { name: 'Note for the team' }).pressSequentially('Slow')
    await fresh.getByRole('button', { name: /^Note for the team/ }).click()
    await fresh.getByRole('log').getByRole('article').first().waitFor()
    expect(statuses).toEqual([])
    await fresh.getByRole('textbox', { name: 'Message' }).pressSequentially('On its way')
    await fresh.keyboard.press('Enter')
    await fresh
      .getByRole('log')
      .getByRole('article')
      .filter({ hasText: 'On its way' })
      .getByRole('img', { name: 'Read' })
      .waitFor()
    expect(await Promise.all(statuses)).toEqual([200])
    await fresh.close()
  })

  it('fills the parts of a template, and shows what was sent', async () => {
    const list = await openTemplates()
    await list.getByRole('button', { name: /flash_sale/ }).click()
    await dialog()
      .getByLabel(/^The offer ends/)
      .fill('2030-12-01T09:00')
    await dialog().getByRole('button', { name: 'Send', exact: true }).click()
    await bubble('Half price').getByText('Offer ends: 1 Dec 2030').waitFor()
    await bubble('Half price').getByRole('img', { name: 'Read' }).waitFor()
    // The page is in São Paulo.
    const end = { expiration_time_ms: Date.parse('2030-12-01T09:00-03:00') }
    expect((await sent()).template.components).toMatchObject([{ parameters: [{ limited_time_offer: end }] }])
  })

  it('does not offer a template with cards, says why, and shows one that the API sent', async () => {
    const list = await openTemplates()
    const choice = list.getByRole('button', { name: /new_mugs/ })
    await choice.getByText('It can only be sent by the API').waitFor()
    expect(await choice.isDisabled()).toBe(true)
    expect(await seriousFindings(page)).toEqual([])
    await page.keyboard.press('Escape')
    const cards = ['blue', 'red'].map((name) => ({ headerMedia: `https://files.example/${name}.jpg` }))
    await succeed(
      stage.request('POST', '/send-template', { templateName: 'new_mugs', language: 'pt_BR', chatNumber: ANA, cards }),
    )
    await bubble('Our new mugs').getByText('Card in red').waitFor()
  })

  it('says why a message is refused while WhatsApp restricts the account', async () => {
    const report = (value: object) =>
      succeed(stage.sim('POST', '/callback', { phone_number_id: stage.phoneNumberId, field: 'account_update', value }))
    const restriction_info = [{ restriction_type: 'RESTRICTED_CUSTOMER_INITIATED_MESSAGING' }]
    await report({ event: 'ACCOUNT_RESTRICTION', restriction_info })
    const banner = page.getByRole('status').filter({ hasText: 'messages without a template cannot be sent' })
    await banner.getByRole('link', { name: 'Settings, Business number' }).waitFor()
    await page.getByRole('textbox', { name: 'Message' }).fill('Too early')
    await page.keyboard.press('Enter')
    await page.getByText('WhatsApp has restricted the account and refuses this message').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    // The browser complains of the refusal, too.
    expect(stage.complaints.pop()).toContain('400 (Bad Request)')
    await report({ event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'REINSTATE' } })
    await banner.waitFor({ state: 'hidden' })
  })

  it('says whether WhatsApp blocked the contact, too', async () => {
    const toggle = async (name: string) => {
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('menuitem', { name }).click()
    }
    await toggle('Block')
    await dialog().getByRole('button', { name: 'Block' }).click()
    await page.getByText('Ana Souza has been blocked').waitFor()
    await toggle('Unblock')
    await page.getByText('Ana Souza has been unblocked').waitFor()

    // The upstream forgets that she wrote, and refuses.
    await succeed(stage.sim('POST', '/reset', {}))
    await toggle('Block')
    await dialog().getByRole('button', { name: 'Block' }).click()
    const notice = page.getByRole('alert').filter({ hasText: 'Ana Souza is blocked in Parley only' })
    await notice.waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await stage.receive({ from: ANA, type: 'text', text: { body: 'Still here' } })
    const answer = page.waitForResponse((response) => response.request().method() === 'PATCH')
    await notice.getByRole('button', { name: 'Try again' }).click()
    expect((await (await answer).json()).upstream_block).toMatchObject({ done: true })
    await notice.waitFor({ state: 'hidden' })
  })
})

/** An offer whose end is given, and cards. */
async function putTemplates({ sim, request }: Stage): Promise<void> {
  const { numbers } = (await succeed(sim('GET', '/numbers'))).body
  const common = { language: 'pt_BR', category: 'UTILITY' }
  const card = (colour: string) => ({
    components: [
      { type: 'HEADER', format: 'IMAGE' },
      { type: 'BODY', text: `Card in ${colour}` },
    ],
  })
  const offer = { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Today', has_expiration: true } }
  const carousel = { type: 'CAROUSEL', cards: [card('blue'), card('red')] }
  for (const template of [
    { name: 'flash_sale', components: [{ type: 'BODY', text: 'Half price' }, offer] },
    { name: 'new_mugs', components: [{ type: 'BODY', text: 'Our new mugs' }, carousel] },
  ]) {
    const { phone_number_id } = numbers[0]
    await succeed(sim('PUT', '/templates', { phone_number_id, template: { ...common, ...template } }))
  }
  await succeed(request('POST', '/templates/sync'))
}
