import { beforeEach, describe, expect, it } from 'vitest'
import { useOrganization, useWorld } from '../../support/world.js'

const REDIRECT_URL = 'https://shop.example/sale?utm_source=whatsapp&utm_campaign=natal#top'

const world = useWorld()
const organization = useOrganization(world)
let code: string

beforeEach(async () => {
  code = await create(REDIRECT_URL)
})

async function create(redirect_url: string): Promise<string> {
  const { body } = await world.request('POST', '/shortlinks', { key: organization.key, body: { redirect_url } })
  return body.shortlink.code
}

async function clicks(): Promise<number> {
  const { body } = await world.request('GET', '/shortlinks?limit=100', { key: organization.key })
  return body.shortlinks.find((link: { code: string }) => link.code === code).clicks
}

const visit = (path = code, headers: Record<string, string> = {}, method = 'GET') =>
  world.request(method, `/s/${path}`, { headers })

describe('GET /s/{code}', () => {
  it('redirects without caching, and counts the click once it has responded', async () => {
    const { status, headers, body } = await visit()
    expect(status).toBe(302)
    expect(headers.get('location')).toBe(REDIRECT_URL)
    expect(headers.get('cache-control')).toBe('private, no-store')
    expect(body).toBe('')
    expect(await clicks()).toBe(1)
  })

  it('counts all concurrent clicks', async () => {
    const second = await create('https://shop.example/second')
    const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => visit(index % 3 === 0 ? second : code)))
    expect(answers.filter(({ headers }) => headers.get('location') === REDIRECT_URL)).toHaveLength(20)
    expect(answers.filter(({ headers }) => headers.get('location') === 'https://shop.example/second')).toHaveLength(10)
    expect(await clicks()).toBe(20)
  })

  it.each(['?redirect_url=https://evil.example', '?utm_campaign=other', '?//evil.example', '?next=//evil.example'])(
    'copies nothing of the request into the target: %s',
    async (query) => {
      expect((await visit(code + query)).headers.get('location')).toBe(REDIRECT_URL)
    },
  )

  it('answers HEAD the same, without counting', async () => {
    const { status, headers } = await visit(code, {}, 'HEAD')
    expect({ status, location: headers.get('location') }).toEqual({ status: 302, location: REDIRECT_URL })
    expect(headers.get('cache-control')).toBe('private, no-store')
    expect(await clicks()).toBe(0)
  })

  it.each(['WhatsApp/2.24.20.1 A', 'facebookexternalhit/1.1'])('redirects %s without counting', async (agent) => {
    expect((await visit(code, { 'user-agent': agent })).status).toBe(302)
    expect(await clicks()).toBe(0)
  })

  it('redirects all clicks of one network, and counts only a limited number', async () => {
    const from = (address: string) => visit(code, { 'x-forwarded-for': `1.1.1.1, ${address}, 10.0.0.1` })
    const answers = await Promise.all(Array.from({ length: 130 }, () => from('8.8.8.8')))
    expect(answers.filter(({ status }) => status === 302)).toHaveLength(130)
    // One more for each second of the clicks.
    const counted = await clicks()
    expect([counted >= 100, counted < 130]).toEqual([true, true])
    await from('8.8.4.4')
    expect(await clicks()).toBe(counted + 1)
    world.advance(60_000)
    await from('8.8.8.8')
    expect(await clicks()).toBe(counted + 2)
  })

  it('encodes a target with other letters for the header', async () => {
    const path = await create('https://loja.example/promoção?utm_campaign=verão')
    expect((await visit(path)).headers.get('location')).toBe(
      'https://loja.example/promo%C3%A7%C3%A3o?utm_campaign=ver%C3%A3o',
    )
  })

  it.each(['nobody', 'x', '%00', '%2F%2Fevil.example', 'x'.repeat(300)])('returns 404 for %s', async (path) => {
    const { status, headers, body } = await visit(path)
    expect(status).toBe(404)
    expect(headers.get('location')).toBeNull()
    expect(body).toMatchObject({ success: false, error: 'Not found', message: expect.any(String) })
  })

  it('returns 404 for a code in another case', async () => {
    const body = { redirect_url: REDIRECT_URL, code: 'Case-Counts' }
    await world.request('POST', '/shortlinks', { key: organization.key, body })
    expect((await visit('Case-Counts')).status).toBe(302)
    expect((await visit('case-counts')).status).toBe(404)
  })

  it('returns 405 for other methods', async () => {
    const { status, headers } = await visit(code, {}, 'POST')
    expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'GET, HEAD' })
  })
})
