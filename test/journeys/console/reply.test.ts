import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath } from '../../support/chromium.js'
import { complaintsBut401, type Stage, startStage } from './stage.js'

describe.skipIf(chromiumPath === null)('the page', () => {
  let stage: Stage

  beforeAll(async () => {
    stage = await startStage()
  })

  afterAll(async () => {
    await stage?.close()
    expect(complaintsBut401(stage)).toEqual([])
  })

  it('shows a new message and sends the reply', async () => {
    const page = await stage.openSignedIn('/inbox')
    const row = page.getByRole('list', { name: 'Conversations' }).getByRole('listitem').filter({ hasText: 'Ana Souza' })
    const bubble = (text: string) => page.getByRole('log').getByRole('article').filter({ hasText: text })
    await stage.receive({
      from: '5511900001234',
      name: 'Ana Souza',
      type: 'text',
      text: { body: 'Is it still there?' },
    })
    await expect.poll(() => row.textContent()).toContain('Is it')
    await row.getByRole('link').click()
    await bubble('Is it still there?').waitFor()
    await page.getByRole('textbox', { name: 'Message' }).fill('Yes, it is.')
    await page.keyboard.press('Enter')
    await bubble('Yes, it is.').getByRole('img', { name: 'Read' }).waitFor()
  })
})
