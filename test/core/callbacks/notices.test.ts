import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { describeNotice } from '../../../src/core/callbacks/read/describe-notice.js'
import { envelope, postBody } from '../../support/callbacks.js'
import { eventsOf } from '../../support/rows/events.js'
import { receiveSamples } from '../../support/samples.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization()
})

async function notices({ id } = organization) {
  const { rows } = await world.database.pool.query(
    `SELECT field, kind, severity, title, value IS NOT NULL AS has_value, until FROM upstream_notices
     WHERE organization_id = $1 ORDER BY at, id`,
    [id],
  )
  return rows
}

/** Inserts a running broadcast; resolves to a function that reads its status. */
async function runningBroadcast() {
  const id = crypto.randomUUID()
  await world.database.pool.query(
    `INSERT INTO broadcasts (organization_id, id, kind, name, status, template_name, template_language, template, created_at)
     VALUES ($1, $2, 'broadcast', 'News', 'running', 'promo', 'en_US', '{}', now())`,
    [organization.id, id],
  )
  return async () => {
    const { rows } = await world.database.pool.query('SELECT status, status_reason FROM broadcasts WHERE id = $1', [id])
    return rows[0]
  }
}

async function report(field: string, value: object, time: number | string = 1_795_000_900): Promise<void> {
  const body = envelope(organization.businessAccountId, { field, value }) as { entry: object[] }
  const timed = { ...body, entry: body.entry.map((entry) => ({ ...entry, time })) }
  expect((await postBody(world, JSON.stringify(timed), organization.appSecret)).status).toBe(200)
  await world.drain()
}

describe('a report about the account or a number, as published', () => {
  it.each([
    ['account-restriction', 'account.updated', 'critical', 'refuses templates and broadcasts (RESTRICTED_BIZ_'],
    ['account-violation', 'account.updated', 'warning', 'violation'],
    ['account-disabled', 'account.updated', 'critical', 'April 17, 2026'],
    ['account-reinstated', 'account.updated', 'info', 'reinstated'],
    ['account-deleted', 'account.updated', 'critical', 'deleted'],
    ['account-offboarded', 'account.updated', 'critical', 'not connected any more'],
    ['account-reconnected', 'account.updated', 'info', 'connected again'],
    ['account-partner-removed', 'account.updated', 'critical', 'PRIMARY_INACTIVITY'],
    ['account-country', 'account.updated', 'info', 'BUSINESS_PRIMARY_LOCATION_COUNTRY_UPDATE'],
    ['account-alert', 'account.updated', 'warning', 'Limits cannot be increased'],
    ['account-review', 'account.updated', 'critical', 'rejected'],
    ['capability-tier', 'account.updated', 'info', 'TIER_2K'],
    ['security', 'account.updated', 'warning', 'PIN'],
    ['flow-status', 'account.updated', 'warning', 'throttled'],
    ['number-throughput', 'number.updated', 'info', 'may send faster'],
    ['number-flagged', 'number.updated', 'warning', 'quality'],
    ['number-name', 'number.updated', 'warning', 'NAME_NOT_CONSISTENT'],
    ['number-username', 'number.updated', 'info', 'samples'],
    ['account-settings', 'number.updated', 'info', 'call settings'],
  ])('%s raises %s, once', async (name, type, severity, title) => {
    await receiveSamples(world, organization, name, name)
    expect(await notices()).toMatchObject([{ severity, title: expect.stringContaining(title), has_value: true }])
    const events = await eventsOf(world, organization, type)
    expect(events).toHaveLength(1)
    const { body } = await world.request('GET', `/events?types=${type}`, { key: organization.key })
    expect(body.events[0].data.notice).toMatchObject({ severity, closed_at: null })
  })

  it('shows nothing to another organization', async () => {
    const other = await world.createOrganization()
    await receiveSamples(world, other, 'account-restriction')
    expect([await notices(), await eventsOf(world, organization, 'account.updated')]).toEqual([[], []])
  })
})

describe('reports of unusual form', () => {
  const partner = () => ({ event: 'PARTNER_REMOVED', waba_info: { waba_id: organization.businessAccountId } })

  it.each([
    ['beside the changes', () => ({ field: 'account_update', changes: [{ value: partner() }] })],
    ['in the value', () => ({ changes: [{ value: { field: 'account_update', ...partner() } }] })],
  ])('are read with the name of the field %s', async (_name, entry) => {
    const body = JSON.stringify({ entry: [{ id: 'portfolio', ...entry() }] })
    expect((await postBody(world, body, organization.appSecret)).status).toBe(200)
    await world.drain()
    expect(await notices()).toMatchObject([{ field: 'account_update', kind: 'PARTNER_REMOVED' }])
  })

  it('are bounded in number', async () => {
    const changes = Array.from({ length: 150 }, (_, n) => ({ field: 'security', value: { event: `KIND_${n}` } }))
    const body = JSON.stringify(envelope(organization.businessAccountId, ...changes))
    expect((await postBody(world, body, organization.appSecret)).status).toBe(200)
    await world.drain()
    expect(await notices()).toHaveLength(100)
  })
})

describe('what the upstream would refuse', () => {
  it.each([
    [{ event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'DISABLE' } }, 'paused'],
    [{ event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'SCHEDULE_FOR_DISABLE' } }, 'running'],
    [{ event: 'ACCOUNT_DELETED' }, 'paused'],
    [
      {
        event: 'ACCOUNT_RESTRICTION',
        restriction_info: [{ restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration: 4_000_000_000 }],
      },
      'paused',
    ],
    [
      {
        event: 'ACCOUNT_RESTRICTION',
        restriction_info: [{ restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration: 1_000_000_000 }],
      },
      'running',
    ],
    [
      { event: 'ACCOUNT_RESTRICTION', restriction_info: [{ restriction_type: 'RESTRICTED_ADD_PHONE_NUMBER_ACTION' }] },
      'running',
    ],
  ])('after %j, a running broadcast is %s', async (value, status) => {
    const read = await runningBroadcast()
    await report('account_update', value)
    expect((await read()).status).toBe(status)
  })

  it('says why, and a repetition does not pause what was resumed', async () => {
    const read = await runningBroadcast()
    const value = { event: 'ACCOUNT_DELETED' }
    await report('account_update', value)
    expect((await read()).status_reason).toBe('The account was deleted')
    await world.database.pool.query(`UPDATE broadcasts SET status = 'running' WHERE organization_id = $1`, [
      organization.id,
    ])
    await report('account_update', value)
    expect((await read()).status).toBe('running')
  })
})

describe('a field that is not known', () => {
  it('is named once, without what it holds', async () => {
    await receiveSamples(world, organization, 'future-field', 'future-field')
    const [notice, ...others] = await notices()
    expect(others).toEqual([])
    expect(notice).toMatchObject({ severity: 'info', kind: null, has_value: false })
    expect(notice.title).toContain(notice.field)
    expect(await eventsOf(world, organization, 'account.updated')).toEqual([])
  })

  it.each(['messages', 'user_preferences', 'message_template_status_update'])('is not %s', async (field) => {
    await report(field, {})
    expect(await notices()).toEqual([])
  })

  it('is not named if it has no name', async () => {
    await report('', {})
    await report('<script>', {})
    expect(await notices()).toEqual([])
  })
})

describe('a description', () => {
  it('is made of anything that JSON can hold', () => {
    const names = ['event', 'decision', 'alert_info', 'restriction_info', 'ban_info', 'waba_ban_state', 'message']
    const kinds = ['ACCOUNT_RESTRICTION', 'DISABLED_UPDATE', 'PARTNER_REMOVED', 'FLAGGED', 'REJECTED', '__proto__']
    const fields = ['account_update', 'account_alerts', 'flows', 'security', 'phone_number_name_update', 'x']
    const value = fc.dictionary(fc.constantFrom(...names), fc.oneof(fc.constantFrom(...kinds), fc.jsonValue()))
    fc.assert(
      fc.property(fc.constantFrom(...fields), value, (field, given) => {
        const { title, severity } = describeNotice(field, given)
        expect(title.length).toBeGreaterThan(0)
        expect(title.length).toBeLessThanOrEqual(500)
        expect(['critical', 'warning', 'info']).toContain(severity)
      }),
    )
  })
})

describe('the quality of a template, as published', () => {
  const name = { name: 'parcel_late', language: 'en_US' }

  beforeEach(async () => {
    await world.database.pool.query(
      `INSERT INTO templates (organization_id, name, language, status, category, parameter_format, components)
       VALUES ($1, $2, $3, 'APPROVED', 'UTILITY', 'POSITIONAL', '[]')`,
      [organization.id, name.name, name.language],
    )
  })

  it('raises template.quality_changed once, in either field', async () => {
    await receiveSamples(world, organization, 'template-quality', 'template-quality', 'template-quality-other-field')
    const { body } = await world.request('GET', '/events?types=template.quality_changed', { key: organization.key })
    expect(body.events.map(({ data }: { data: object }) => data)).toMatchObject([
      { template: { ...name, status: 'APPROVED' }, quality: 'YELLOW', previous_quality: 'GREEN' },
      { template: { ...name, status: 'APPROVED' }, quality: 'RED', previous_quality: 'YELLOW' },
    ])
  })

  it.each<[string, [string, number | string][], string[]]>([
    [
      'of an older callback does not replace a newer one',
      [
        ['RED', 1_795_000_900],
        ['GREEN', 1_795_000_100],
      ],
      ['RED'],
    ],
    [
      'is as of the newest report, also if that changed nothing',
      [
        ['GREEN', 1_795_000_100],
        ['GREEN', '1795000900'],
        ['YELLOW', 1_795_000_500],
      ],
      ['GREEN'],
    ],
  ])('%s', async (_name, reports, told) => {
    const value = { message_template_name: name.name, message_template_language: 'en-US' }
    for (const [quality, time] of reports) {
      await report('message_template_quality_update', { ...value, new_quality_score: quality }, time)
    }
    const events = await eventsOf(world, organization, 'template.quality_changed')
    expect(events.map(({ data }) => data.quality)).toEqual(told)
  })
})
