import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { localDate } from '../../../../src/lib/text/calendar.js'
import { receiveMessages, textMessage } from '../../../support/callbacks.js'
import { startTemplateWorld } from '../../../support/send-template.js'
import { useStarted } from '../../../support/started.js'
import type { TestOrganization } from '../../../support/world.js'

const TIMEZONE = 'America/Sao_Paulo'

const template = useStarted(startTemplateWorld)
/** A new one for each test, so that its figures are separate. */
let organization: TestOrganization

beforeAll(async () => {
  await template.world.sim('POST', '/settings', { statuses: true })
})

beforeEach(async () => {
  const fields = { language: 'pt_BR', default_country: 'BR', timezone: TIMEZONE }
  organization = await template.world.createOrganization(fields)
})

async function sendTo(chatNumber: string, body: object = { templateName: 'hello_world' }) {
  const answer = await template.send({ chatNumber, bodyParameters: { name: 'Ana' }, ...body }, undefined, organization)
  return { broadcastId: answer.body.broadcastId as string, ...answer.body }
}

const OFFER = {
  templateName: 'oferta_da_semana',
  bodyParameters: { name: 'Ana', discount: '20%' },
  buttonParameters: { param1: 'abc' },
}

const read = async (path: string) => (await template.read(path, organization)).body

async function overall(day = localDate(template.world.now(), TIMEZONE)) {
  return (await read(`/broadcast-analytics?start_date=${day}&end_date=${day}`)).data
}

describe('a send-template as a broadcast of one', () => {
  it('can be read by its id, with its one recipient', async () => {
    const digits = template.newNumber()
    const { broadcastId, results } = await sendTo(digits)
    await template.world.settle()
    const { broadcast } = await read(`/broadcasts/${broadcastId}`)
    expect(broadcast).toEqual({
      id: broadcastId,
      name: 'hello_world',
      templateName: 'hello_world',
      language: 'en_US',
      status: 'completed',
      from: null,
      totalRecipients: 1,
      skippedRecipients: 0,
      scheduled_at: null,
      started_at: expect.any(String),
      completed_at: expect.any(String),
      created_at: broadcast.started_at,
      reason: null,
    })
    expect(await read(`/broadcasts/${broadcastId}/recipients`)).toMatchObject({
      success: true,
      recipients: [
        {
          contactId: results[0].contactId,
          chatNumber: digits,
          contactName: 'Ana',
          status: 'read',
          reason: null,
          messageId: results[0].messageId,
          errorCode: null,
          errorMessage: null,
          sent_at: expect.any(String),
          delivered_at: expect.any(String),
          read_at: expect.any(String),
        },
      ],
      pagination: { currentPage: 1, totalPages: 1 },
    })
    expect((await read(`/broadcasts/${broadcastId}/recipients?status=failed`)).recipients).toEqual([])
    const csv = await read(`/broadcasts/${broadcastId}/recipients?format=csv`)
    expect(csv.trim().split('\n')).toHaveLength(2)
    expect(csv).toContain(digits)
  })

  it('is listed with kind=single only, newest first', async () => {
    const ids: string[] = []
    for (let n = 0; n < 3; n++) ids.unshift((await sendTo(template.newNumber())).broadcastId)
    expect(await read('/broadcasts')).toMatchObject({ broadcasts: [], count: 0 })
    const page = async (n: number) => read(`/broadcasts?kind=single&limit=2&page=${n}`)
    const [first, second] = [await page(1), await page(2)]
    const listed = [...first.broadcasts, ...second.broadcasts]
    expect(listed.map(({ id }: { id: string }) => id)).toEqual(ids)
    expect(first).toMatchObject({ count: 2, pagination: { totalPages: 2, totalBroadcasts: 3, hasNextPage: true } })
    expect(listed[0]).toEqual((await read(`/broadcasts/${ids[0]}`)).broadcast)
  })

  it('has analytics of its own', async () => {
    const digits = template.newNumber()
    const { broadcastId, results } = await sendTo(digits, OFFER)
    await sendTo(template.newNumber(), OFFER)
    await template.world.settle()
    await press(digits, 'Quero saber mais', results[0].messageId)
    await receiveMessages(template.world, organization, textMessage(digits, 'quero parar, por favor', at(60_000)))
    const { data } = await read(`/broadcast-analytics?broadcast_id=${broadcastId}`)
    expect(data.broadcastInfo).toEqual({
      id: broadcastId,
      name: 'oferta_da_semana',
      templateName: 'oferta_da_semana',
      createdAt: expect.any(String),
      totalRecipients: 1,
    })
    expect(data.deliveryStats).toEqual({ sent: 1, delivered: 1, read: 1, failed: 0, deliveryRate: 100, readRate: 100 })
    expect(data.conversionFunnel).toEqual({ sent: 1, delivered: 1, read: 1, buttonClicked: 1, optedOut: 1 })
    expect(data.buttonAnalytics).toEqual({
      quickReplyButton: 'Quero saber mais',
      quickReplyClicks: 1,
      quickReplyConversionRate: 100,
    })
    expect(data.allButtons).toEqual([
      { buttonText: 'Quero saber mais', clicks: 1, conversionRate: 100 },
      { buttonText: 'Parar', clicks: 0, conversionRate: 0 },
    ])
    expect(data.totalButtonClicks).toBe(1)
    expect(data.optOutAnalytics).toEqual({ totalOptOuts: 1, optOutRate: 100 })
    expect(data.revenue).toMatchObject({
      totalRevenue: 0,
      orderCount: 0,
      utmCampaign: null,
      utmCampaigns: [],
      orders: [],
    })
  })

  it('has analytics even if it failed or was not sent', async () => {
    const failed = await sendTo(template.newNumber('000001'))
    const { data } = await read(`/broadcast-analytics?broadcast_id=${failed.broadcastId}`)
    expect(data.broadcastInfo.totalRecipients).toBe(1)
    expect(data.deliveryStats).toEqual({ sent: 0, delivered: 0, read: 0, failed: 1, deliveryRate: 0, readRate: 0 })
    const digits = await template.newContact({ allow_broadcast: false }, organization)
    const skipped = await sendTo(digits, OFFER)
    const nothing = await read(`/broadcast-analytics?broadcast_id=${skipped.broadcastId}`)
    expect(nothing.data.broadcastInfo.totalRecipients).toBe(0)
    expect(nothing.data.deliveryStats).toMatchObject({ sent: 0, failed: 0 })
  })
})

describe('a send-template whose contact was erased', () => {
  it('keeps its outcome, and nothing of the person', async () => {
    const digits = template.newNumber()
    const { broadcastId } = await sendTo(digits, OFFER)
    await template.world.settle()
    await template.world.request('DELETE', `/contact?chat_id=${digits}`, { key: organization.key })
    await template.world.drain()
    expect((await read(`/broadcasts/${broadcastId}`)).broadcast).toMatchObject({ id: broadcastId, totalRecipients: 1 })
    expect((await read(`/broadcasts/${broadcastId}/recipients`)).recipients).toMatchObject([
      { contactId: null, chatNumber: null, contactName: null, status: 'read', messageId: null },
    ])
    const { data } = await read(`/broadcast-analytics?broadcast_id=${broadcastId}`)
    expect(data.deliveryStats).toMatchObject({ sent: 1, delivered: 1, read: 1 })
    expect((await overall()).overallStats).toMatchObject({ totalCampaigns: 1, totalRecipients: 1, read: 1 })
  })
})

describe('a template whose buttons change', () => {
  it('counts clicks by the new buttons from then on', async () => {
    const put = (text: string) =>
      template.putTemplate({ name: 'asks', body: 'Sim?', buttons: [{ type: 'QUICK_REPLY', text }] }, organization)
    await put('Sim')
    await sendTo(template.newNumber(), { templateName: 'asks' })
    await put('Claro')
    await template.world.request('POST', '/templates/sync', { key: organization.key })
    const digits = template.newNumber()
    const { broadcastId, results } = await sendTo(digits, { templateName: 'asks' })
    await template.world.settle()
    await press(digits, 'Claro', results[0].messageId)
    const { data } = await read(`/broadcast-analytics?broadcast_id=${broadcastId}`)
    expect(data.allButtons).toEqual([{ buttonText: 'Claro', clicks: 1, conversionRate: 100 }])
  })
})

describe('the analytics of a day', () => {
  it('show the sends of one template as one row without a broadcastId, across languages', async () => {
    const body = { templateName: 'two_tongues' }
    for (const language of ['pt_BR', 'en_US']) {
      await template.putTemplate({ name: 'two_tongues', language, body: language }, organization)
    }
    await sendTo(template.newNumber())
    await sendTo(template.newNumber())
    await sendTo(template.newNumber('000001'))
    await sendTo(template.newNumber(), { ...body, language: 'pt_BR' })
    await sendTo(template.newNumber(), { ...body, language: 'en_US' })
    await template.world.settle()
    const data = await overall()
    expect(data.overallStats).toMatchObject({
      totalCampaigns: 2,
      totalBroadcasts: 0,
      totalRecipients: 5,
      sent: 4,
      delivered: 4,
      read: 4,
      failed: 1,
      deliveryRate: 100,
      readRate: 100,
      failureRate: 20,
    })
    expect(data.campaignPerformance).toMatchObject([
      { broadcastId: null, templateName: 'two_tongues', totalRecipients: 2, sent: 2, failed: 0 },
      { broadcastId: null, name: 'hello_world', templateName: 'hello_world', totalRecipients: 3, sent: 2, failed: 1 },
    ])
    expect(data.timeSeriesData).toEqual([
      { date: localDate(template.world.now(), TIMEZONE), sent: 4, delivered: 4, read: 4, failed: 1 },
    ])
    expect(data.templateAnalytics).toMatchObject([
      { templateName: 'hello_world', usageCount: 1 },
      { templateName: 'two_tongues', usageCount: 1 },
    ])
    expect(data.errorAnalysis).toEqual([
      { errorCode: 131026, errorMessage: expect.any(String), count: 1, percentage: 100 },
    ])
  })

  it('keep a broadcast of the same template and day in a row of its own', async () => {
    const { key } = organization
    const broadcast = {
      name: 'Spring',
      templateName: 'hello_world',
      audience: { recipients: [{ chatNumber: template.newNumber() }] },
    }
    const made = await template.world.request('POST', '/broadcasts', { key, body: broadcast })
    expect(made.status, JSON.stringify(made.body)).toBe(202)
    await template.world.settle()
    await sendTo(template.newNumber())
    const after = { ...broadcast, audience: { recipients: [{ chatNumber: template.newNumber() }] }, name: 'Summer' }
    const second = await template.world.request('POST', '/broadcasts', { key, body: after })
    await template.world.settle()
    const { campaignPerformance, overallStats } = await overall()
    expect(overallStats).toMatchObject({ totalCampaigns: 3, totalRecipients: 3, sent: 3 })
    expect(campaignPerformance).toMatchObject([
      { broadcastId: second.body.broadcast.id, name: 'Summer', totalRecipients: 1 },
      { broadcastId: null, name: 'hello_world', totalRecipients: 1 },
      { broadcastId: made.body.broadcast.id, name: 'Spring', totalRecipients: 1 },
    ])
  })

  it('start another row on another day', async () => {
    const first = localDate(template.world.now(), TIMEZONE)
    await sendTo(template.newNumber())
    template.world.advance(24 * 60 * 60_000)
    await sendTo(template.newNumber())
    expect((await overall(first)).overallStats).toMatchObject({ totalCampaigns: 1, totalRecipients: 1 })
    expect((await overall()).overallStats).toMatchObject({ totalCampaigns: 1, totalRecipients: 1 })
  })

  it('ignore refused requests', async () => {
    const digits = await template.newContact({}, organization)
    const { key } = organization
    await template.world.request('PATCH', `/contact?chat_id=${digits}`, { key, body: { blocked: true } })
    expect((await sendTo(digits)).error).toBe('Contact blocked')
    expect(await overall()).toMatchObject({
      overallStats: { totalCampaigns: 0, totalRecipients: 0 },
      campaignPerformance: [],
      templateAnalytics: [],
    })
  })
})

/** Clicks a button of a message, a minute after now. */
async function press(from: string, text: string, on: string): Promise<void> {
  const button = { type: 'button', button: { payload: text, text }, context: { from: '1', id: on } }
  await receiveMessages(
    template.world,
    organization,
    textMessage(from, text, { text: undefined, ...button, ...at(30_000) }),
  )
}

/** The time of a message, this number of milliseconds after now. */
const at = (offset: number) => ({ timestamp: String(Math.floor((template.world.now().getTime() + offset) / 1_000)) })
