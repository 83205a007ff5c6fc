import { describe, expect, it } from 'vitest'
import { rollUpCounts } from '../../../../src/core/maintenance/maintenance.js'
import { createShortLink } from '../../../../src/core/storefront/short-links.js'
import { newId } from '../../../../src/lib/bytes/id.js'
import type { Organization } from '../../../../src/model/organizations/organization.js'
import { directoryHash } from '../../../../src/storage/organizations/directory.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const REDIRECT_URL = 'https://shop.example/sale?utm_source=whatsapp&utm_campaign=Natal'

const world = useWorld()
const request = requestAsDescribed(world)
const organization = useOrganization(world)
const other = useOrganization(world)

const create = (body: object, { key, headers }: { key?: string; headers?: Record<string, string> } = {}) =>
  request('POST', '/shortlinks', { key: key ?? organization.key, body, ...(headers && { headers }) })

const list = (query = '', key = organization.key) => request('GET', `/shortlinks${query}`, { key })

/** As if the process had died before it answered. */
const forgetAnswers = () => world.database.pool.query('UPDATE idempotency_keys SET status = NULL, answer = NULL')

const click = (code: string) => world.request('GET', `/s/${code}`)

describe('POST /shortlinks', () => {
  it('returns 201 with a random code of 7 letters and digits, at the public address', async () => {
    const { status, body } = await create({ redirect_url: REDIRECT_URL })
    expect(status).toBe(201)
    const { code } = body.shortlink
    expect(code).toMatch(/^[0-9A-Za-z]{7}$/)
    expect(body).toEqual({
      success: true,
      shortlink: { code, short_url: `${world.app.url}/s/${code}`, redirect_url: REDIRECT_URL },
    })
    expect((await create({ redirect_url: REDIRECT_URL })).body.shortlink.code).not.toBe(code)
  })

  it('accepts a chosen code, which is case-sensitive', async () => {
    expect((await create({ redirect_url: REDIRECT_URL, code: 'Natal_20-26' })).body.shortlink.code).toBe('Natal_20-26')
    expect((await create({ redirect_url: REDIRECT_URL, code: 'natal_20-26' })).status).toBe(201)
  })

  it('refuses a code in use with the same message, whichever organization uses it', async () => {
    await create({ redirect_url: REDIRECT_URL, code: 'mine' })
    await create({ redirect_url: REDIRECT_URL, code: 'theirs' }, { key: other.key })
    const refusals = await Promise.all(
      ['mine', 'theirs'].map(async (code) => {
        const { status, body } = await create({ redirect_url: 'https://a.example', code })
        return { status, text: JSON.stringify(body).replaceAll(code, '…') }
      }),
    )
    expect(refusals[0]).toMatchObject({ status: 409, text: expect.stringContaining('"error":"Already taken"') })
    expect(refusals[1]).toEqual(refusals[0])
    expect((await click('theirs')).headers.get('location')).toBe(REDIRECT_URL)
  })

  it('gives a code to one of several concurrent requests', async () => {
    const keys = [organization.key, other.key, organization.key, other.key]
    const answers = await Promise.all(
      keys.map((key) => create({ redirect_url: REDIRECT_URL, code: 'at-once' }, { key })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
  })

  it.each([
    'shop.example',
    '/sale',
    'ftp://shop.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'https://user@shop.example',
    'https://user:pass@shop.example',
    'https://:pass@shop.example',
    'https://',
    'https://shop.example/a b',
    'https://shop.example/\nx',
    `https://shop.example/${'x'.repeat(1_980)}`,
    42,
  ])('returns 400 for an invalid URL: %j', async (redirect_url) => {
    const { status, body } = await create({ redirect_url })
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'Invalid field' })
    expect(body.message).toContain('redirect_url')
  })

  it('accepts 2,000 characters', async () => {
    const start = 'https://shop.example/?q='
    expect((await create({ redirect_url: start + 'x'.repeat(2_000 - start.length) })).status).toBe(201)
  })

  it.each([undefined, null, ''])('returns 400 without a URL: %j', async (redirect_url) => {
    const { status, body } = await create({ redirect_url })
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'Missing required field' })
  })

  it.each(['ab', 'x'.repeat(65), 'a b c', 'a/b/c', 'ção', 'abc\n', 7])('returns 400 for the code %j', async (code) => {
    const { status, body } = await create({ redirect_url: REDIRECT_URL, code })
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'Invalid field' })
    expect(body.message).toContain('code')
  })

  it('creates one link for two requests with the same Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'once' }
    const first = await create({ redirect_url: REDIRECT_URL }, { headers })
    const second = await create({ redirect_url: REDIRECT_URL }, { headers })
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    const reused = await create({ redirect_url: 'https://a.example' }, { headers })
    expect(reused.status).toBe(422)
    const theirs = await create({ redirect_url: REDIRECT_URL }, { key: other.key, headers })
    expect(theirs.body.shortlink.code).not.toBe(first.body.shortlink.code)
  })

  describe.each([{}, { code: 'left-behind' }])('after an attempt that left no answer: %j', (fields) => {
    const body = { redirect_url: REDIRECT_URL, ...fields }
    const headers = { 'idempotency-key': `left behind ${JSON.stringify(fields)}` }
    let code: string

    it('returns the link', async () => {
      code = (await create(body, { headers })).body.shortlink.code
      await forgetAnswers()
      const again = await create(body, { headers })
      expect(again).toMatchObject({ status: 201, body: { shortlink: { code } } })
      expect(again.headers.get('idempotent-replayed')).toBe('true')
    })

    it('creates the link if there is none yet', async () => {
      await forgetAnswers()
      await world.database.pool.query('DELETE FROM short_links WHERE code = $1', [code])
      await world.database.pool.query(`DELETE FROM directory WHERE kind = 'short_link' AND value_hash = $1`, [
        directoryHash(code),
      ])
      const again = await create(body, { headers })
      expect(again).toMatchObject({ status: 201, body: { shortlink: { code } } })
      expect(again.headers.get('idempotent-replayed')).toBeNull()
    })
  })

  it('generates another code if the first is taken', async () => {
    const resourceId = newId()
    const fields = { redirect_url: REDIRECT_URL }
    const theirs = await createShortLink(world.app.ctx, { id: other.id } as Organization, fields, resourceId)
    const ours = await createShortLink(world.app.ctx, { id: organization.id } as Organization, fields, resourceId)
    expect(ours.code).toMatch(/^[0-9A-Za-z]{7}$/)
    expect(ours.code).not.toBe(theirs.code)
  })
})

describe('GET /shortlinks', () => {
  it('lists the links with their clicks, newest first, before and after a roll-up', async () => {
    const own = await world.createOrganization()
    const codes = ['list-a', 'list-b', 'list-c']
    for (const code of codes) await create({ redirect_url: REDIRECT_URL, code }, { key: own.key })
    for (const code of ['list-a', 'list-b', 'list-a']) await click(code)
    const expected = [
      { code: 'list-c', clicks: 0 },
      { code: 'list-b', clicks: 1 },
      { code: 'list-a', clicks: 2 },
    ]
    const { body } = await list('', own.key)
    expect(body.shortlinks).toMatchObject(expected)
    expect(body.shortlinks[0].short_url).toBe(`${world.app.url}/s/list-c`)
    await rollUpCounts(world.app.work)
    expect((await list('', own.key)).body).toEqual(body)
    await click('list-a')
    await rollUpCounts(world.app.work)
    expect((await list('?page=2&limit=2', own.key)).body).toMatchObject({
      shortlinks: [{ code: 'list-a', clicks: 3 }],
      pagination: {
        currentPage: 2,
        totalPages: 2,
        totalShortLinks: 3,
        shortLinksPerPage: 2,
        hasNextPage: false,
        hasPrevPage: true,
      },
    })
    const { rows } = await world.database.pool.query('SELECT count(*)::int AS left FROM short_link_clicks')
    expect(rows[0].left).toBe(0)
  })

  it("shows only the organization's own links", async () => {
    const own = await world.createOrganization()
    expect((await list('', own.key)).body).toMatchObject({ shortlinks: [], pagination: { totalPages: 0 } })
  })

  it.each(['?limit=0', '?limit=101', '?page=0', '?page=x'])('returns 400 for %s', async (query) => {
    expect((await list(query)).body.error).toBe('Invalid parameter')
  })
})

it('the links of a deleted organization stop working, and their codes are free', async () => {
  const own = await world.createOrganization()
  await create({ redirect_url: REDIRECT_URL, code: 'gone' }, { key: own.key })
  await world.admin('DELETE', `/organizations/${own.id}`)
  expect((await click('gone')).status).toBe(404)
  expect((await create({ redirect_url: REDIRECT_URL, code: 'gone' })).status).toBe(201)
})
