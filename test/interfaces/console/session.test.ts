import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createLogger } from '../../../src/log.js'
import {
  addMember,
  cookieOf,
  keepCookie,
  makeSignInLink,
  type SignedInMember,
  signInWithPassword,
} from '../../support/console.js'
import { hold, untilWaiting } from '../../support/locks.js'
import { type Answer, startWorld, useOrganization, useWorld } from '../../support/world.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const NUMBER = '5511987654321'

const NIL = '00000000-0000-0000-0000-000000000000'

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)

const begin = (body: unknown, headers = {}) => world.request('POST', '/console/api/session', { body, headers })
const useLink = (token: unknown) => world.request('POST', '/console/api/session/link', { body: { token } })
const withCookie = (cookie: string, method = 'GET', path = '/session') =>
  world.request(method, `/console/api${path}`, { headers: { cookie } })
const statusOf = async (answer: Promise<Answer>) => (await answer).status

/** A session started by a link, of a member without a password. */
async function signInByLink() {
  const member = await addMember(world, organization)
  const answer = await useLink(await makeSignInLink(world, member.id))
  expect(answer.status).toBe(200)
  return { member, answer, ...keepCookie(world, answer) }
}

describe('POST /console/api/session', () => {
  it('starts a session that GET shows, and that only its cookie gives access to', async () => {
    const member = await addMember(world, organization, { role: 'agent', password: 'a fine password' })
    const answer = await begin({ organization: organization.slug, email: member.email, password: 'a fine password' })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      success: true,
      session: {
        member: { ...member, has_password: true },
        organization: expect.objectContaining({
          id: organization.id,
          slug: organization.slug,
          name: organization.name,
        }),
        by_link: false,
        public_url: world.app.url,
        simulator: true,
        utm_source: 'chat',
        live_from: expect.any(String),
      },
    })
    const session = keepCookie(world, answer)
    const shown = (await session.call('GET', '/session')).body
    expect(shown).toEqual({ success: true, session: { ...answer.body.session, live_from: shown.session.live_from } })
    expect(await statusOf(world.request('GET', '/console/api/session'))).toBe(401)
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  it('keeps the token in a cookie hidden from scripts, other sites and other paths', async () => {
    const { member, password } = await signInWithPassword(world, organization)
    const { headers } = await begin({ organization: organization.slug, email: member.email, password })
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(/^parley_session=[\w.-]+; Max-Age=1209600; Path=\/console; HttpOnly; SameSite=Strict$/),
      expect.stringMatching(/^parley_device=[\w.-]+; Max-Age=34560000; Path=\/console; HttpOnly; SameSite=Strict$/),
    ])
  })

  it('accepts organization and e-mail address in any usual spelling', async () => {
    const { member, password } = await signInWithPassword(world, organization)
    const name = { organization: ` ${organization.slug.toUpperCase()} `, email: ` ${member.email.toUpperCase()}` }
    expect(await statusOf(begin({ ...name, password }))).toBe(200)
  })

  it('returns 401 with the same message for each wrong part', async () => {
    const { member, password } = await signInWithPassword(world, organization)
    const bare = await addMember(world, organization)
    const right = { organization: organization.slug, email: member.email, password }
    const answers = await Promise.all([
      begin({ ...right, organization: 'nowhere' }),
      begin({ ...right, organization: other.slug }),
      begin({ ...right, email: 'nobody@example.com' }),
      begin({ ...right, email: bare.email }),
      begin({ ...right, password: `${password}!` }),
      begin({ ...right, password: 'x'.repeat(1_000) }),
    ])
    for (const answer of answers) {
      expect(answer.status).toBe(401)
      expect(answer.body).toEqual(answers[0]?.body)
      expect(answer.headers.has('set-cookie')).toBe(false)
    }
    expect(answers[0]?.body).toMatchObject({ success: false, error: 'Sign-in failed' })
  })

  it.each([
    ['no organization', { organization: undefined }, 'Missing required field', 'organization'],
    ['an empty e-mail address', { email: '' }, 'Missing required field', 'email'],
    ['no password', { password: undefined }, 'Missing required field', 'password'],
    ['a number', { password: 5 }, 'Invalid field', 'password'],
    ['an endless text', { password: 'x'.repeat(1_001) }, 'Invalid field', 'password'],
    ['a text that cannot be stored', { email: 'a\u0000@example.com' }, 'Invalid field', 'email'],
  ])('returns 400 for %s', async (_what, fields, error, name) => {
    const answer = await begin({ organization: organization.slug, email: 'a@example.com', password: 'x', ...fields })
    expect([answer.status, answer.body.error]).toEqual([400, error])
    expect(answer.body.message).toContain(name)
  })
})

describe('a session', () => {
  it('gets a new token every hour; the old one works for 60 s after the new one is first used, and returns the same', async () => {
    const { cookie: first, call } = await signInWithPassword(world, organization)
    world.advance(59 * MINUTE)
    expect(cookieOf(await withCookie(first))).toBeNull()
    world.advance(MINUTE)
    const second = cookieOf(await call('GET', '/session'))
    expect(second).toMatch(/^parley_session=./)
    expect(second).not.toBe(first)
    world.advance(MINUTE)
    expect(await statusOf(withCookie(String(second)))).toBe(200)
    world.advance(58_000)
    const late = await withCookie(first)
    expect([late.status, cookieOf(late)]).toEqual([200, second])
    world.advance(3_000)
    expect(await statusOf(withCookie(first))).toBe(401)
    const answer = await withCookie(String(second))
    expect([answer.status, cookieOf(answer)]).toEqual([200, null])
  })

  it('continues with the same new token if the answer was lost', async () => {
    const { cookie } = await signInWithPassword(world, organization)
    world.advance(HOUR)
    const lost = cookieOf(await withCookie(cookie))
    world.advance(DAY)
    const again = await withCookie(cookie)
    expect([again.status, cookieOf(again)]).toEqual([200, lost])
    // A new token is due again, and using yesterday's token ends the session.
    const third = cookieOf(await withCookie(String(lost)))
    expect(third).not.toBe(lost)
    expect(await statusOf(withCookie(cookie))).toBe(401)
    expect(await statusOf(withCookie(String(third)))).toBe(200)
  })

  it('gets one new token in concurrent requests with the old one', async () => {
    const { cookie } = await signInWithPassword(world, organization)
    world.advance(HOUR)
    const answers = await Promise.all(Array.from({ length: 8 }, () => withCookie(cookie)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    const [renewed, ...more] = new Set(answers.map(cookieOf))
    expect(more).toEqual([])
    expect(await statusOf(withCookie(String(renewed)))).toBe(200)
  })

  it('gets it with a refusal too', async () => {
    const { call, cookie } = await signInWithPassword(world, organization, { role: 'analyst' })
    world.advance(HOUR)
    const refused = await call('GET', '/get-webhooks')
    expect(refused.status).toBe(403)
    expect(cookieOf(refused)).toMatch(/^parley_session=./)
    expect(await statusOf(call('GET', '/session'))).toBe(200)
    world.advance(2 * MINUTE)
    expect(await statusOf(withCookie(cookie))).toBe(401)
    expect(await statusOf(call('GET', '/session'))).toBe(200)
  })

  it('ends after 14 days without use', async () => {
    const { call } = await signInWithPassword(world, organization)
    for (const days of [13, 13]) {
      world.advance(days * DAY)
      expect(await statusOf(call('GET', '/session'))).toBe(200)
    }
    world.advance(14 * DAY)
    expect(await statusOf(call('GET', '/session'))).toBe(401)
  })

  it.each([
    ['no token', () => 'parley_session='],
    ['another cookie', () => 'theme=dark'],
    ['a made-up token', () => `parley_session=${'x'.repeat(80)}`],
    ['a cookie that cannot be decoded', () => 'parley_session=%ff'],
    ['another id', (cookie: string) => cookie.replace(/\.[0-9a-f-]{36}\./, '.00000000-0000-7000-8000-000000000000.')],
    ['another secret', (cookie: string) => cookie.replace(/\.[\w-]{43}\./, `.${'A'.repeat(43)}.`)],
    ['an additional part', (cookie: string) => `${cookie}.x`],
    ['another organization', (cookie: string) => cookie.replace(organization.id, other.id)],
  ])('returns 401 for %s', async (_what, change) => {
    const { cookie } = await signInWithPassword(world, organization)
    const changed = change(cookie)
    expect(changed).not.toBe(cookie)
    const answer = await withCookie(changed)
    expect([answer.status, answer.body.error]).toEqual([401, 'Sign-in required'])
  })

  it('ends with its member, and with its organization', async () => {
    const gone = await world.createOrganization()
    const [removed, orphaned] = [await signInWithPassword(world, organization), await signInWithPassword(world, gone)]
    await world.admin('DELETE', `/members/${removed.member.id}`)
    await world.admin('DELETE', `/organizations/${gone.id}`)
    for (const { call } of [removed, orphaned]) expect(await statusOf(call('GET', '/session'))).toBe(401)
  })

  it('sees nothing of another organization', async () => {
    const [mine, theirs] = [await signInWithPassword(world, organization), await signInWithPassword(world, other)]
    const body = { phone_number: NUMBER, full_name: 'Ana' }
    expect(await statusOf(mine.call('POST', '/contact', { body }))).toBe(201)
    expect(await statusOf(mine.call('GET', `/contact?chat_id=${NUMBER}`))).toBe(200)
    expect(await statusOf(theirs.call('GET', `/contact?chat_id=${NUMBER}`))).toBe(404)
    expect(await statusOf(theirs.call('GET', `/contact?chat_id=${NUMBER}&tenantId=${other.slug}`))).toBe(404)
    const foreign = await theirs.call('GET', `/contact?chat_id=${NUMBER}&tenantId=${organization.slug}`)
    expect(foreign.status).toBe(401)
  })

  it('is not an API key, and an API key is not a session', async () => {
    const { cookie } = await signInWithPassword(world, organization)
    const token = cookie.slice('parley_session='.length)
    const path = `/contact?chat_id=${NUMBER}`
    expect(await statusOf(world.request('GET', path, { headers: { cookie } }))).toBe(401)
    expect(await statusOf(world.request('GET', path, { key: token }))).toBe(401)
    const byKey = (headers = {}) => world.request('GET', `/console/api${path}`, { key: organization.key, headers })
    expect(await statusOf(byKey())).toBe(401)
    expect(await statusOf(byKey({ cookie: `parley_session=${organization.key}` }))).toBe(401)
  })
})

describe('DELETE /console/api/session', () => {
  it("ends the session and deletes the cookie, while the member's other sessions continue", async () => {
    const { member, password, call, cookie } = await signInWithPassword(world, organization)
    const body = { organization: organization.slug, email: member.email, password }
    const elsewhere = keepCookie(world, await begin(body))
    const answer = await call('DELETE', '/session')
    expect(answer.status).toBe(200)
    expect(answer.headers.getSetCookie()).toEqual([
      'parley_session=; Max-Age=0; Path=/console; HttpOnly; SameSite=Strict',
    ])
    expect(await statusOf(withCookie(cookie))).toBe(401)
    expect(await statusOf(withCookie(cookie, 'DELETE'))).toBe(401)
    expect(await statusOf(elsewhere.call('GET', '/session'))).toBe(200)
  })

  it('sets no other cookie if a new token was due', async () => {
    const { call } = await signInWithPassword(world, organization)
    world.advance(HOUR)
    expect((await call('DELETE', '/session')).headers.getSetCookie()).toEqual([
      expect.stringMatching(/^parley_session=; Max-Age=0;/),
    ])
  })
})

describe('a sign-in link', () => {
  it('starts a session once', async () => {
    const member = await addMember(world, organization)
    const made = await world.admin('POST', `/members/${member.id}/sign-in-link`)
    expect(made.status).toBe(201)
    const { url, expires_at } = made.body.link
    expect(url.startsWith(`${world.app.url}/console/sign-in#`)).toBe(true)
    expect(Math.round((Date.parse(expires_at) - world.now().getTime()) / MINUTE)).toBe(24 * 60)
    const token = url.split('#')[1]
    const answer = await useLink(token)
    expect(answer.status).toBe(200)
    expect(answer.body.session).toMatchObject({ member: { id: member.id, has_password: false }, by_link: true })
    expect(await statusOf(keepCookie(world, answer).call('GET', '/session'))).toBe(200)
    const again = await useLink(token)
    expect([again.status, again.body.error]).toEqual([401, 'Sign-in failed'])
    expect(again.headers.has('set-cookie')).toBe(false)
  })

  it('starts one session for two concurrent requests', async () => {
    const token = await makeSignInLink(world, (await addMember(world, organization)).id)
    const answers = await Promise.all([useLink(token), useLink(token), useLink(token)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401])
  })

  it('works for a day', async () => {
    const { id } = await addMember(world, organization)
    const [early, late] = [await makeSignInLink(world, id), await makeSignInLink(world, id)]
    world.advance(DAY - MINUTE)
    expect(await statusOf(useLink(early))).toBe(200)
    world.advance(2 * MINUTE)
    expect(await statusOf(useLink(late))).toBe(401)
  })

  it('ends with its member', async () => {
    const { id } = await addMember(world, organization)
    const token = await makeSignInLink(world, id)
    await world.admin('DELETE', `/members/${id}`)
    expect(await statusOf(useLink(token))).toBe(401)
  })

  it('is not a session, and a session is not a link', async () => {
    const { member, cookie } = await signInWithPassword(world, organization)
    const token = await makeSignInLink(world, member.id)
    expect(await statusOf(withCookie(`parley_session=${token}`))).toBe(401)
    expect(await statusOf(useLink(cookie.slice('parley_session='.length)))).toBe(401)
    expect(await statusOf(useLink('nonsense'))).toBe(401)
    expect(await statusOf(useLink(token.replace(organization.id, other.id)))).toBe(401)
    expect(await statusOf(useLink(''))).toBe(400)
    expect(await statusOf(useLink(token))).toBe(200)
  })

  it('returns 404 if it is unknown', async () => {
    for (const id of ['00000000-0000-7000-8000-000000000000', 'nonsense']) {
      const answer = await world.admin('POST', `/members/${id}/sign-in-link`)
      expect(answer.status).toBe(404)
    }
    const { id } = await addMember(world, organization)
    const withKey = await world.request('POST', `/admin/members/${id}/sign-in-link`, { key: organization.key })
    expect(withKey.status).toBe(401)
  })
})

describe('PUT /console/api/session/password', () => {
  const put = ({ call }: Pick<SignedInMember, 'call'>, body: unknown) => call('PUT', '/session/password', { body })

  it("changes the password, and ends the member's other sessions and open links", async () => {
    const owner = await signInWithPassword(world, organization)
    const colleague = await signInWithPassword(world, organization)
    const name = { organization: organization.slug, email: owner.member.email }
    const elsewhere = keepCookie(world, await begin({ ...name, password: owner.password }))
    const link = await makeSignInLink(world, owner.member.id)
    const answer = await put(owner, { current_password: owner.password, new_password: 'another password' })
    expect(answer.status).toBe(200)
    expect(await statusOf(owner.call('GET', '/session'))).toBe(200)
    expect(await statusOf(elsewhere.call('GET', '/session'))).toBe(401)
    expect(await statusOf(useLink(link))).toBe(401)
    expect(await statusOf(colleague.call('GET', '/session'))).toBe(200)
    expect(await statusOf(begin({ ...name, password: owner.password }))).toBe(401)
    expect(await statusOf(begin({ ...name, password: 'another password' }))).toBe(200)
  })

  it('ends the session of a link that is used at the same moment', async () => {
    const owner = await signInWithPassword(world, organization)
    const memberId = owner.member.id
    await makeSignInLink(world, memberId)
    const held = await hold(world.database, 'DELETE FROM sign_in_links WHERE member_id = $1', [memberId])
    await held.run(
      `INSERT INTO member_sessions (organization_id, id, member_id, secret_hash, rotated_at, by_link, expires_at)
       SELECT organization_id, gen_random_uuid(), member_id, secret_hash, rotated_at, true, expires_at
       FROM member_sessions WHERE member_id = $1`,
      [memberId],
    )
    const changed = put(owner, { current_password: owner.password, new_password: 'another password' })
    await untilWaiting(world.database, 1, 'sign_in_links')
    await held.commit()
    expect((await changed).status).toBe(200)
    const { rows } = await world.database.pool.query('SELECT by_link FROM member_sessions WHERE member_id = $1', [
      memberId,
    ])
    expect(rows).toEqual([{ by_link: false }])
  })

  it('returns 400 without the right old one', async () => {
    const owner = await signInWithPassword(world, organization)
    const missing = await put(owner, { new_password: 'another password' })
    expect([missing.status, missing.body.error]).toEqual([400, 'Missing required field'])
    const wrong = await put(owner, { current_password: 'a wrong password', new_password: 'another password' })
    expect([wrong.status, wrong.body.error]).toEqual([400, 'Invalid field'])
    expect(wrong.body.message).toMatch(/^current_password /)
    const name = { organization: organization.slug, email: owner.member.email }
    expect(await statusOf(begin({ ...name, password: owner.password }))).toBe(200)
  })

  it('returns 429 after too many wrong old ones', async () => {
    const owner = await signInWithPassword(world, organization)
    const guess = { current_password: 'a wrong password', new_password: 'another password' }
    for (let count = 0; count < 5; count++) expect((await put(owner, guess)).status).toBe(400)
    expect((await put(owner, { ...guess, current_password: owner.password })).status).toBe(429)
  })

  it('needs no old password once, if a link started the session', async () => {
    const byLink = await signInByLink()
    expect((await put(byLink, { new_password: 'the first password' })).status).toBe(200)
    expect((await byLink.call('GET', '/session')).body.session).toMatchObject({
      member: { has_password: true },
      by_link: false,
    })
    expect((await put(byLink, { new_password: 'a second password' })).status).toBe(400)
    const link = await makeSignInLink(world, byLink.member.id)
    const forgetful = keepCookie(world, await useLink(link))
    expect((await put(forgetful, { new_password: 'a third password' })).status).toBe(200)
  })

  it.each([
    [7, 'new_password must have at least 8 characters'],
    [257, 'new_password must have at most 256 characters'],
  ])('returns 400 for a password of %i characters', async (length, message) => {
    const answer = await put(await signInByLink(), { new_password: 'x'.repeat(length) })
    expect([answer.status, answer.body.message]).toEqual([400, message])
  })
})

describe('a browser in which another member signs in', () => {
  it('has one session: the old one ends', async () => {
    const olga = await signInWithPassword(world, organization)
    const bob = await addMember(world, await world.createOrganization())
    const headers = { cookie: olga.cookie }
    const body = { token: await makeSignInLink(world, bob.id) }
    const answer = await world.request('POST', '/console/api/session/link', { body, headers })
    expect(answer.body.session.member.id).toBe(bob.id)
    expect(await statusOf(olga.call('GET', '/session'))).toBe(401)
    expect(await statusOf(keepCookie(world, answer).call('GET', '/session'))).toBe(200)
  })

  it('does not act for another member that a stale page still shows', async () => {
    const olga = await signInWithPassword(world, organization)
    const ask = (id: string) => olga.call('GET', '/team', { headers: { 'x-parley-member': id } })
    expect((await ask(olga.member.id)).status).toBe(200)
    const refused = await ask((await addMember(world, organization)).id)
    expect([refused.status, refused.body.error]).toEqual([401, 'Sign-in required'])
    expect(await statusOf(olga.call('GET', `/live?member_id=${NIL}`))).toBe(401)
  })
})

describe('requests of other sites', () => {
  const post = ({ call }: Pick<SignedInMember, 'call'>, origin: string) =>
    call('POST', '/contact', { body: { phone_number: 'x' }, headers: { origin } })

  it.each(['https://evil.example', 'null', 'http://127.0.0.1', 'http://127.0.0.1.evil.example'])(
    'are refused: %s',
    async (origin) => {
      const owner = await signInWithPassword(world, organization)
      const answer = await post(owner, origin)
      expect([answer.status, answer.body.error]).toEqual([403, 'Forbidden'])
      const { member, password } = owner
      const body = { organization: organization.slug, email: member.email, password }
      expect(await statusOf(begin(body, { origin }))).toBe(403)
      expect(await statusOf(owner.call('GET', '/session', { headers: { origin } }))).toBe(200)
    },
  )

  it('are distinguished from those of the page by the host', async () => {
    const answer = await post(await signInWithPassword(world, organization), world.app.url)
    expect([answer.status, answer.body.error]).toEqual([400, 'Invalid field'])
  })
})

describe('a request of a member', () => {
  it('acts as that member, even if it names another one', async () => {
    const agent = await signInWithPassword(world, organization, { role: 'agent' })
    const colleague = await signInWithPassword(world, organization)
    const to = '5511987650000'
    await agent.call('POST', '/contact', { body: { phone_number: to } })
    await agent.call('PATCH', `/contact?chat_id=${to}`, { body: { bot_status: 'active' } })
    await world.sim('POST', '/inbound', {
      phone_number_id: organization.phoneNumberId,
      from: to,
      type: 'text',
      text: { body: 'Oi' },
    })
    await world.settle()
    const send = (memberId?: string | null) =>
      agent.call('POST', '/send-chat', { body: { phone_number: to, message_type: 'text', text: 'Olá', memberId } })
    for (const memberId of [undefined, null, agent.member.id.toUpperCase()]) {
      expect(await statusOf(send(memberId))).toBe(200)
    }
    const refused = await send(colleague.member.id)
    expect([refused.status, refused.body.error]).toEqual([403, 'Forbidden'])
    const { body } = await agent.call('GET', `/conversations?chatNumber=${to}`)
    const sent = body.messages.filter(({ message }: { message: string }) => message === 'Olá')
    expect(sent).toHaveLength(3)
    for (const message of sent) {
      expect(message).toMatchObject({ sender_type: 'human-chat', assignee: { id: agent.member.id } })
    }
    expect((await agent.call('GET', `/contact?chat_id=${to}`)).body.contact.bot_status).toBe('paused')
  })

  it('acts as that member for templates too', async () => {
    const agent = await signInWithPassword(world, organization, { role: 'agent' })
    const body = { templateName: 'any', chatNumber: NUMBER, memberId: (await addMember(world, organization)).id }
    expect(await statusOf(agent.call('POST', '/send-template', { body }))).toBe(403)
    const byKey = await world.request('POST', '/send-template', { key: organization.key, body })
    expect([byKey.status, byKey.body.error]).toEqual([400, 'Template not found'])
  })
})

describe('a service with a public URL of its own', () => {
  it('sends the cookie over HTTPS only, accepts its own origin, and uses the URL in its links', async () => {
    const lines: string[] = []
    const stream = new PassThrough().on('data', (chunk) => lines.push(String(chunk)))
    const publicUrl = 'https://chat.example.com/parley'
    const far = await startWorld(
      { PARLEY_PUBLIC_URL: publicUrl, PARLEY_RATE_LIMIT: '5' },
      createLogger('trace', stream),
    )
    try {
      const shop = await far.createOrganization()
      const owner = await signInWithPassword(far, shop)
      const { member, password } = owner
      const body = { organization: shop.slug, email: member.email, password }
      const answer = await far.request('POST', '/console/api/session', { body })
      expect(answer.headers.getSetCookie()).toEqual([
        expect.stringMatching(
          /^__Host-parley_session=[\w.-]+; Max-Age=1209600; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
        ),
        expect.stringMatching(
          /^__Host-parley_device=[\w.-]+; Max-Age=34560000; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
        ),
      ])
      // A session that started before the service used HTTPS continues.
      const kept = String(cookieOf(answer)).split('=')[1]
      const moved = await far.request('GET', '/console/api/session', { headers: { cookie: `parley_session=${kept}` } })
      expect(moved.status).toBe(200)
      expect(moved.headers.getSetCookie()).toEqual([
        expect.stringContaining(`__Host-parley_session=${kept};`),
        expect.stringMatching(/^parley_session=; Max-Age=0; Path=\/console; /),
      ])
      const again = await far.request('GET', '/console/api/session', { headers: { cookie: String(cookieOf(answer)) } })
      expect([again.status, again.headers.getSetCookie()]).toEqual([200, []])
      expect(answer.body.session.public_url).toBe(publicUrl)
      const post = (origin: string) => owner.call('POST', '/contact', { body: {}, headers: { origin } })
      expect((await post('https://chat.example.com')).status).toBe(400)
      expect((await post('http://chat.example.com')).status).toBe(403)
      const link = (await far.admin('POST', `/members/${member.id}/sign-in-link`)).body.link.url
      expect(link.startsWith(`${publicUrl}/console/sign-in#`)).toBe(true)
      const token = link.split('#')[1]
      await far.request('POST', '/console/api/session/link', { body: { token } })
      await far.request('POST', '/console/api/session', { body: { ...body, password: 'a wrong password' } })
      await owner.call('PUT', '/session/password', {
        body: { current_password: password, new_password: 'a new password' },
      })

      const limited = await Promise.all(Array.from({ length: 20 }, () => owner.call('GET', '/session')))
      expect(limited[0]?.headers.get('ratelimit-limit')).toBe('10')
      const refused = limited.find(({ status }) => status === 429)
      expect(refused?.body).toMatchObject({ error: 'Too many requests', retry_after: expect.any(Number) })

      await owner.call('DELETE', '/session')
      const secrets = [password, 'a wrong password', 'a new password', token, owner.cookie]
      const log = lines.join('')
      const changes = lines.map((line) => JSON.parse(line)).filter(({ access }) => access !== undefined)
      const ids = { organizationId: shop.id, memberId: member.id }
      expect(changes).toMatchObject([
        { access: 'api_key_issued', by: 'operator', organizationId: shop.id, keyId: expect.any(String) },
        { access: 'member_added', by: 'operator', ...ids, role: 'owner' },
        { access: 'sign_in_link_made', by: 'operator', memberId: member.id },
        { access: 'password_changed', by: member.id, ...ids },
      ])
      for (const secret of [...secrets, token.split('.')[2]].filter(Boolean)) expect(log).not.toContain(secret)
    } finally {
      await far.close()
    }
  })
})

describe('/openapi.json', () => {
  it('describes Interface A only', async () => {
    const { body } = await world.request('GET', '/openapi.json')
    const paths = Object.keys(body.paths)
    expect(paths).toContain('/contact')
    expect(paths.filter((path) => path.startsWith('/console'))).toEqual([])
  })
})
