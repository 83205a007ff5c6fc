import { beforeAll, describe, expect, it } from 'vitest'
import { fillSentence } from '../../../../console/src/i18n/problems/describe-problem.js'
import { problems } from '../../../../console/src/i18n/problems/pt.js'
import { sentencesOf } from '../../../../src/core/callbacks/read/describe-notice.js'
import { type Sentence, type SentenceCode, toEnglish } from '../../../../src/model/sentence.js'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { expectForOwners } from '../../../support/refusals.js'
import { receiveSamples } from '../../../support/samples.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const NO_ID = '00000000-0000-7000-8000-000000000000'

const world = useWorld()
const organization = useOrganization(world)
let owner: SignedInMember
let stranger: SignedInMember

beforeAll(async () => {
  owner = await signIn(world, organization)
  stranger = await signIn(world, await world.createOrganization())
  await receiveSamples(world, organization, 'account-restriction', 'number-flagged')
})

const list = async (by = owner) => (await by.call('GET', '/notices')).body.notices
const close = (id: string, by = owner) => by.call('POST', `/notices/${id}/close`)

it('notices are for owners', async () => {
  const others = [
    await signIn(world, organization, { role: 'agent' }),
    await signIn(world, organization, { role: 'analyst' }),
  ]
  await expectForOwners(others, ['GET /notices', `POST /notices/${NO_ID}/close`])
})

describe('GET /console/api/notices', () => {
  it('lists what WhatsApp reported, critical first, with what to do', async () => {
    expect(await list()).toMatchObject([
      {
        kind: 'ACCOUNT_RESTRICTION',
        severity: 'critical',
        advice: expect.stringContaining('WhatsApp Manager'),
        until: '2026-11-25T11:06:40.000Z',
      },
      { field: 'phone_number_quality_update', kind: 'FLAGGED', severity: 'warning', until: null, closed_at: null },
    ])
    expect(await list(stranger)).toEqual([])
  })

  it('has critical ones behind many newer ones, and none that a member has dealt with', async () => {
    const other = await world.createOrganization()
    const otherOwner = await signIn(world, other)
    await receiveSamples(world, other, 'account-restriction')
    await world.database.pool.query(
      `INSERT INTO upstream_notices (organization_id, id, digest, field, severity, title, at, closed_at)
       SELECT $1, gen_random_uuid(), decode(md5(n::text), 'hex'), 'security', 'info', 'News', now() + interval '1 year',
         CASE WHEN n % 2 = 0 THEN now() END
       FROM generate_series(1, 400) n`,
      [other.id],
    )
    const [first, ...rest] = await list(otherOwner)
    expect(first).toMatchObject({ kind: 'ACCOUNT_RESTRICTION' })
    expect(rest).toHaveLength(99)
    expect(rest.every(({ closed_at }: { closed_at: string | null }) => closed_at === null)).toBe(true)
  })
})

describe('the sentences of a notice', () => {
  it('are those of its English texts, and have others in Portuguese', async () => {
    const listed = await list()
    for (const { title, advice, sentences } of listed) {
      expect([toEnglish(sentences.title), toEnglish(sentences.advice)]).toEqual([title, advice])
    }
    expect(
      listed.map(({ sentences }: { sentences: { title: Sentence } }) => fillSentence(problems, sentences.title)),
    ).toEqual([
      expect.stringMatching(/^O WhatsApp restringiu a conta: ele recusa modelos e campanhas \(.*RESTRICTED_BIZ_/),
      'A qualidade de 12025550100 está baixa',
    ])
  })

  it.each([
    ['the upstream wrote the title itself', { field: 'flows', value: { message: 'The form is throttled' } }],
    ['the value was too large to be stored', { field: 'account_update', value: null }],
  ])('leave the title out if %s', (_name, notice) => {
    expect(sentencesOf(notice).title).toBeNull()
  })

  it('name a field that is not known', () => {
    const { title } = sentencesOf({ field: 'future', value: null })
    expect(title && fillSentence(problems, title)).toContain('“future”')
  })

  it('are left out by a page that is older than they are', () => {
    expect(fillSentence(problems, { code: 'of_a_later_version' as SentenceCode, values: {} })).toBeNull()
  })
})

describe('POST /console/api/notices/{id}/close', () => {
  it('marks a notice as done, once', async () => {
    const [{ id }] = await list()
    const first = await close(id)
    expect(first.body.notice).toMatchObject({ id, closed_at: expect.any(String) })
    expect((await list()).map((notice: { id: string }) => notice.id)).not.toContain(id)
    world.advance(60_000)
    expect((await close(id)).body.notice.closed_at).toBe(first.body.notice.closed_at)
  })

  it('finds none of another organization', async () => {
    const [{ id }] = await list()
    expect((await close(id, stranger)).status).toBe(404)
    expect((await close(NO_ID)).status).toBe(404)
  })
})
