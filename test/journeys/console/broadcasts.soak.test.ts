import { readFile } from 'node:fs/promises'
import { parse } from 'csv-parse/sync'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath } from '../../support/chromium.js'
import { succeed } from '../support/service.js'
import { complaintsBut401, type Stage, signIn, startStage } from './stage.js'

/** A magic test number: messages to it fail. */
const UNREACHABLE = '5511900000001'
/** A magic test number: messages are delivered but not read. */
const SILENT = '5511900000006'
const RITA = '5511900007777'
/** Messages to it fail until the test changes that. */
const HELD = '5511900008888'
const HELD_BACK = 131049

describe.skipIf(chromiumPath === null)('broadcasts', () => {
  let stage: Stage
  let page: Page

  beforeAll(async () => {
    stage = await startStage()
    page = await stage.openSignedIn('/broadcasts')
  })

  afterAll(async () => {
    await stage?.close()
    expect(complaintsBut401(stage)).toEqual([])
  })

  const region = (name: string) => page.getByRole('region', { name, exact: true })
  const recipient = (contact: string) => region('Recipients').getByRole('row', { name: new RegExp(`^${contact}`) })
  const statusOf = (contact: string) => () => recipient(contact).innerText()
  const sums = () => readSums(page.getByLabel('Figures of this broadcast'))
  const status = () => page.getByRole('main').getByRole('status').first().textContent()

  it('is composed, and shows its reach before it is sent', async () => {
    await succeed(stage.sim('PUT', `/recipients/${HELD}`, { code: HELD_BACK }))
    await page.getByRole('link', { name: 'New broadcast' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'New broadcast' }).waitFor()
    await compose(page, 'Spring sale')
    await region('Who gets it').getByText('No audience chosen yet').waitFor()
    await page.getByRole('radio', { name: 'List of numbers' }).check()
    await page
      .getByRole('textbox', { name: 'List of numbers' })
      .fill(`+${UNREACHABLE}\n+55 (11) 90000-0006\n(11) 90000-7777,Rita Lima\n${HELD}\nno number`)
    await region('Audience').getByText('4 rows').waitFor()
    await region('Audience').getByText('1 row is left out:').waitFor()
    await region('Audience').getByRole('listitem').filter({ hasText: 'Row 5: chatNumber "no number" is not' }).waitFor()
    await region('Who gets it').getByText('4 people get it').waitFor()
    await region('Preview').getByText('20% de desconto').waitFor()

    await page.getByRole('button', { name: 'Review and send' }).click()
    // One value is missing: nothing is sent, and its field shows the error.
    await page.getByText('Fill in this field').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    // A short link created here fills the field with its code.
    await page.getByRole('button', { name: 'Create short link' }).click()
    await page.getByRole('textbox', { name: 'Page the button opens' }).fill('https://shop.example/sale?size=m')
    await page.getByText('utm_source=chat&utm_campaign=spring-sale').waitFor()
    await page.getByRole('button', { name: 'Create and use' }).click()
    const button = page.getByRole('textbox', { name: /^Button/ })
    await expect.poll(() => button.inputValue()).toMatch(/^\w{4,}$/)
    await page.getByRole('button', { name: 'Review and send' }).click()
    const review = page.getByRole('dialog', { name: 'Send “Spring sale”?' })
    await review.getByText('4 people will get it').waitFor()
    await review.getByText('oferta_da_semana (pt_BR)').waitFor()
    await review.getByText('List of numbers: 4 rows').waitFor()
    await review.getByText('4 marketing messages').waitFor()
    await review.getByText('20% de desconto').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Send to 4 people' }).click()
    await page.getByRole('heading', { level: 1, name: 'Spring sale' }).waitFor()
  })

  it('completes, with the status of each recipient', async () => {
    await expect.poll(status).toBe('Completed')
    await expect
      .poll(sums)
      .toMatchObject({ Recipients: '4', Sent: '2', Delivered: '2', Read: '1', Failed: '2', 'Clicked a button': '0' })
    await expect.poll(statusOf(UNREACHABLE)).toContain('131026')
    await expect.poll(statusOf(UNREACHABLE)).toContain('The number is not on WhatsApp')
    await expect.poll(statusOf(HELD)).toContain(String(HELD_BACK))
    await expect.poll(statusOf(SILENT)).toContain('Delivered')
    await expect.poll(statusOf('Rita Lima')).toContain('Read')

    await region('Recipients').getByText('Failed 2').click()
    await expect.poll(() => region('Recipients').getByRole('row').count()).toBe(3)
    await region('Recipients').getByText('All 4').click()
    await recipient(SILENT).waitFor()
  })

  it('is sent again to failed recipients', async () => {
    await succeed(stage.sim('DELETE', `/recipients/${HELD}`))
    await page.getByRole('button', { name: 'Retry failed' }).click()
    const dialog = page.getByRole('dialog', { name: 'Send again?' })
    await dialog.getByText('2 failed recipients').waitFor()
    await dialog.getByRole('button', { name: 'Retry failed' }).click()
    await expect.poll(sums).toMatchObject({ Sent: '3', Read: '2', Failed: '1' })
    await expect.poll(status).toBe('Completed')
    await expect.poll(statusOf(HELD)).toContain('Read')
    await expect.poll(statusOf(UNREACHABLE)).toContain('131026')
  })

  it('shows button clicks live', async () => {
    const { messages } = (await succeed(stage.sim('GET', `/messages?to=${RITA}`))).body
    const context = { from: messages[0].payload.to, id: messages[0].id }
    const button = { payload: 'Quero saber mais', text: 'Quero saber mais' }
    await stage.receive({ from: RITA, type: 'button', button, context })
    await expect.poll(sums).toMatchObject({ 'Clicked a button': '1' })

    await region('Buttons').getByRole('radio', { name: 'Table' }).press('Space')
    await region('Buttons')
      .getByRole('row', { name: /Quero saber mais 1/ })
      .waitFor()
    await region('Buttons')
      .getByRole('row', { name: /Parar 0/ })
      .waitFor()
    await region('Funnel').getByRole('radio', { name: 'Table' }).press('Space')
    const steps = await region('Funnel').getByRole('row').allInnerTexts()
    expect(steps.slice(1).map((row) => row.split('\t').slice(0, 2))).toEqual([
      ['Sent', '3'],
      ['Delivered', '3'],
      ['Read', '2'],
      ['Clicked a button', '1'],
      ['Opted out', '0'],
    ])
  })

  it('is downloaded as shown', async () => {
    const all = await download(page, page.getByRole('link', { name: 'Download these recipients as CSV' }))
    expect(all.name).toMatch(/\.csv$/)
    expect(
      all.rows.map(({ chatNumber, status, reason, errorCode }) => [chatNumber, status, reason, errorCode]),
    ).toEqual([
      [UNREACHABLE, 'failed', '', '131026'],
      [SILENT, 'delivered', '', ''],
      [RITA, 'read', '', ''],
      [HELD, 'read', '', ''],
    ])
    await region('Recipients').getByText('Failed 1').click()
    await expect.poll(() => region('Recipients').getByRole('row').count()).toBe(2)
    const failed = await download(page, page.getByRole('link', { name: 'Download these recipients as CSV' }))
    expect(failed.rows.map(({ chatNumber }) => chatNumber)).toEqual([UNREACHABLE])
    const buttons = await download(page, page.getByRole('link', { name: 'Download Buttons as CSV' }))
    expect(buttons.rows.map(({ buttonText, clicks }) => [buttonText, clicks])).toEqual([
      ['Quero saber mais', '1'],
      ['Parar', '0'],
    ])
  })

  it('appears in analytics, with the totals', async () => {
    await page.getByRole('link', { name: 'Analytics' }).click()
    await page.getByRole('heading', { level: 1, name: 'Analytics' }).waitFor()
    await expect
      .poll(() => readSums(page.getByLabel('Totals of these days')))
      .toMatchObject({ Sent: '3', Delivered: '3', Read: '2', Failed: '1' })
    const row = region('Campaigns').getByRole('row', { name: /^Spring sale/ })
    const cells = (await row.getByRole('cell').allInnerTexts()).slice(2)
    expect(cells).toEqual(['4', '3', '3', '2', '1', '100%', '66.7%', expect.stringContaining('0.00')])
    await region('Why messages failed').getByText('131026').waitFor()
    await region('Day by day').getByRole('radio', { name: 'Table' }).press('Space')
    await region('Day by day')
      .getByRole('row', { name: /3 3 2 1$/ })
      .waitFor()
    const { name, rows } = await download(page, page.getByRole('link', { name: 'Download Campaigns as CSV' }))
    expect(name).toMatch(/^campaigns-.*\.csv$/)
    expect(rows).toMatchObject([{ name: 'Spring sale', totalRecipients: '4', sent: '3', read: '2', failed: '1' }])
    await row.getByRole('link', { name: 'Spring sale' }).click()
    await page.getByRole('heading', { level: 1, name: 'Spring sale' }).waitFor()
  })

  it('is scheduled, and cancelled before it starts', async () => {
    await page.goto('/console/broadcasts/new')
    await compose(page, 'Too early')
    await page.getByRole('radio', { name: 'All contacts' }).check()
    await page.getByRole('textbox', { name: /^Button/ }).fill('early')
    await page.getByRole('radiogroup', { name: 'When' }).getByRole('radio', { name: 'Later' }).check()
    await page.getByRole('button', { name: 'Date and time' }).click()
    const calendar = page.getByRole('dialog', { name: 'Date and time' })
    await calendar.getByRole('button', { name: 'Next month' }).click()
    await calendar.getByRole('button', { name: /^15 / }).click()
    await calendar.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Review and schedule' }).click()
    const dialog = page.getByRole('dialog', { name: 'Send “Too early”?' })
    await dialog.getByText('It starts on').waitFor()
    await dialog.getByRole('button', { name: /^Schedule for/ }).click()
    await page.getByRole('heading', { level: 1, name: 'Too early' }).waitFor()
    await expect.poll(status).toBe('Scheduled')

    await page.getByRole('button', { name: 'Cancel broadcast' }).click()
    await page
      .getByRole('dialog', { name: 'Cancel “Too early”?' })
      .getByRole('button', { name: 'Cancel broadcast' })
      .click()
    await expect.poll(status).toBe('Cancelled')
    await page.getByRole('link', { name: 'Broadcasts' }).first().click()
    await page.getByRole('row', { name: /^Too early .*Cancelled/ }).waitFor()
    await page.getByRole('row', { name: /^Spring sale .*Completed/ }).waitFor()
    const { messages } = (await succeed(stage.sim('GET', '/messages?limit=1000'))).body
    expect(JSON.stringify(messages)).not.toContain('early')
  })

  it('can be viewed but not changed by analysts', async () => {
    const { organizations } = (await succeed(stage.admin('GET', '/organizations'))).body
    const analyst = { email: 'analyst@demo.example', full_name: 'Nina Numbers', role: 'analyst' }
    const { member } = (await succeed(stage.admin('POST', `/organizations/${organizations[0].id}/members`, analyst)))
      .body
    const { link } = (await succeed(stage.admin('POST', `/members/${member.id}/sign-in-link`))).body
    const hers = await stage.open()
    await signIn(hers, link.url)
    await hers.getByRole('link', { name: 'Broadcasts' }).click()
    await hers.getByRole('row', { name: /^Spring sale/ }).waitFor()
    expect(await hers.getByRole('link', { name: 'New broadcast' }).count()).toBe(0)
    await hers.getByRole('link', { name: 'Spring sale' }).click()
    await expect
      .poll(() => readSums(hers.getByLabel('Figures of this broadcast')))
      .toMatchObject({ Sent: '3', 'Clicked a button': '1' })
    expect(await hers.getByRole('button', { name: /Retry|Cancel|Pause|Resume/ }).count()).toBe(0)
    await hers.goto('/console/broadcasts/new')
    await hers.getByRole('heading', { level: 1, name: 'Broadcasts' }).waitFor()
    expect(new URL(hers.url()).pathname).toBe('/console/broadcasts')
    await hers.context().close()
  })
})

/** Fills in the form, except for the button's value. */
async function compose(page: Page, name: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name)
  await page.getByRole('combobox', { name: 'Template' }).click()
  await page.getByRole('option', { name: /^oferta_da_semana/ }).click()
  await page.getByRole('textbox', { name: 'Text: discount' }).fill('20%')
}

/** Figures by name. */
async function readSums(tiles: Locator): Promise<Record<string, string>> {
  const names = await tiles.getByRole('term').allInnerTexts()
  // Some figures are followed by a hint, which is a definition too.
  const lines = (await tiles.innerText()).split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(names.map((name) => [name, lines[lines.indexOf(name) + 1] ?? '']))
}

async function download(page: Page, link: Locator): Promise<{ name: string; rows: Record<string, string>[] }> {
  const [file] = await Promise.all([page.waitForEvent('download'), link.click()])
  const text = await readFile(await file.path(), 'utf8')
  return { name: file.suggestedFilename(), rows: parse(text, { bom: true, columns: true }) }
}
