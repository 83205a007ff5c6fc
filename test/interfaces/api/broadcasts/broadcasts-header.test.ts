import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { reconcileBroadcasts } from '../../../../src/core/broadcasts/reconcile.js'
import { expireOutcomes, prune } from '../../../../src/core/maintenance/maintenance.js'
import { DAY, startBroadcastWorld } from '../../../support/broadcasts.js'
import { startHttpServer } from '../../../support/http-server.js'
import { pdf, png } from '../../../support/media.js'
import { storedBytes } from '../../../support/received-files.js'
import { mediaRows } from '../../../support/rows/media.js'
import { useStarted } from '../../../support/started.js'
import { uploadFile } from '../../../support/uploaded-files.js'

const files = useStarted(() =>
  startHttpServer(({ path }, response) => void response.end(path.endsWith('.png') ? png() : pdf())),
)
const at = useStarted(startBroadcastWorld)
let url: string

beforeAll(() => {
  url = `${files.url}/collection.png`
})

beforeEach(() => at.world.sim('POST', '/settings', { upload_fails: 0 }))

const uploads = async () =>
  (await at.world.sim('GET', `/media?phone_number_id=${at.organization.phoneNumberId}`)).body.media
const filesOf = () => mediaRows(at.world, at.organization)

/** A broadcast with a header file. */
const collection = (numbers: string[], fields: object = {}) => ({
  templateName: 'nova_colecao',
  bodyParameters: { name: 'Ana' },
  headerMedia: url,
  audience: { recipients: numbers.map((chatNumber) => ({ chatNumber })) },
  ...fields,
})

const messageOf = async (digits: string) => {
  const path = `/conversations?chatNumber=${digits}`
  return (await at.world.request('GET', path, { key: at.organization.key })).body.messages[0]
}

async function bytesAt(address: string): Promise<Buffer | number> {
  const answer = await fetch(address)
  return answer.status === 200 ? Buffer.from(await answer.arrayBuffer()) : answer.status
}

const inDays = (days: number) => new Date(at.world.now().getTime() + days * DAY).toISOString()
const headerOf = (sent: { template: { components: { parameters: { image: { id: string } }[] }[] } }) =>
  sent.template.components[0]?.parameters[0]?.image.id

describe('the header file of a broadcast', () => {
  it('is fetched and uploaded once, and shown by every message', async () => {
    const [before, taken, kept] = [await uploads(), files.taken.length, await filesOf()]
    const numbers = [at.newNumber(), at.newNumber(), at.newNumber()]
    const { id } = await at.send(collection(numbers))
    expect(await at.outcomes(id)).toEqual(['sent', 'sent', 'sent'])
    expect(files.taken).toHaveLength(taken + 1)
    const after = await uploads()
    expect(after).toHaveLength(before.length + 1)
    expect(await filesOf()).toHaveLength(kept.length + 1)
    const arrived = (await at.arrived()).filter(({ to }) => numbers.includes(to))
    expect(arrived.map(headerOf)).toEqual(Array(3).fill(after.at(-1).id))
    for (const digits of numbers) {
      const { media_url, media_type } = await messageOf(digits)
      expect(media_type).toBe('image')
      expect(await bytesAt(media_url)).toEqual(png())
    }
  })

  it('is kept for other recipients if one is erased, even after a second try', async () => {
    const [gone, twice, stays] = [at.newNumber(), at.newNumber(), at.newNumber()]
    await at.failing(twice, 131026)
    const { id } = await at.send(collection([gone, twice, stays]))
    await at.healed(twice)
    expect((await at.act(id, 'retry-failed')).body.retried).toBe(1)
    await at.world.drain()
    expect(await at.outcomes(id)).toEqual(['sent', 'sent', 'sent'])
    const kept = await filesOf()
    for (const digits of [gone, twice]) {
      expect((await at.ask('DELETE', `/contact?chat_id=${digits}`)).status).toBe(200)
      await at.world.drain()
      expect(await filesOf()).toEqual(kept)
      expect(await bytesAt((await messageOf(stays)).media_url)).toEqual(png())
    }
  })

  it('of a one-off send is deleted with its contact', async () => {
    const { digits } = await at.newContact()
    const kept = await filesOf()
    const body = { templateName: 'nova_colecao', chatNumber: digits, bodyParameters: { name: 'Ana' }, headerMedia: url }
    expect((await at.ask('POST', '/send-template', { body })).body.success).toBe(true)
    const [made] = (await filesOf()).filter(({ id }) => !kept.some((file) => file.id === id))
    await at.ask('DELETE', `/contact?chat_id=${digits}`)
    await at.world.drain()
    expect(await filesOf()).toEqual(kept)
    expect(await storedBytes(at.world, at.organization, made.id)).toBeNull()
  })

  it('is kept with a scheduled broadcast while unused files are pruned', async () => {
    const digits = at.newNumber()
    const before = await uploads()
    const { id } = await at.create(collection([digits], { scheduled_at: inDays(3) }))
    at.world.advance(3 * DAY)
    await prune(at.world.app.work)
    await at.world.drain()
    await reconcileBroadcasts(at.world.app.ctx)
    await at.world.drain()
    expect(await at.outcomes(id)).toEqual(['sent'])
    expect(await uploads()).toHaveLength(before.length + 1)
    expect(await bytesAt((await messageOf(digits)).media_url)).toEqual(png())
  })

  it('is uploaded again if the upstream no longer has it', async () => {
    const digits = at.newNumber()
    const { id } = await at.create(collection([digits], { scheduled_at: inDays(26) }))
    const before = await uploads()
    const taken = files.taken.length
    at.world.advance(26 * DAY)
    await reconcileBroadcasts(at.world.app.ctx)
    await at.world.drain()
    expect(await at.outcomes(id)).toEqual(['sent'])
    const again = (await uploads()).slice(before.length).map((upload: { id: string }) => upload.id)
    expect(again.length).toBeGreaterThan(0)
    expect(again).toContain(headerOf((await at.arrived()).at(-1)))
    expect(files.taken).toHaveLength(taken)
  })

  it('that cannot be uploaded again pauses the broadcast, which continues once it can', async () => {
    const { id } = await at.create(collection([at.newNumber()], { scheduled_at: inDays(26) }))
    at.world.advance(26 * DAY)
    await at.world.sim('POST', '/settings', { upload_fails: 1 })
    await reconcileBroadcasts(at.world.app.ctx)
    await at.world.drain()
    expect(await at.read(id)).toMatchObject({ status: 'paused', reason: 'Failed to upload media to upstream' })
    expect(await at.outcomes(id)).toEqual(['pending'])
    await at.world.sim('POST', '/settings', { upload_fails: 0 })
    await at.act(id, 'resume')
    await at.world.drain()
    expect(await at.outcomes(id)).toEqual(['sent'])
  })
})

describe('an unusable header file', () => {
  it.each([
    ['of another kind', () => `${files.url}/offer.pdf`],
    ['at a private address', () => 'http://10.0.0.1/a.png'],
    ['at no address', () => 'no address'],
  ])('returns 400 and creates no broadcast: %s', async (_name, address) => {
    const before = await at.ask('GET', '/broadcasts')
    const kept = await filesOf()
    const answer = await at.post(collection([at.newNumber()], { headerMedia: address() }))
    expect(answer).toMatchObject({ status: 400, body: { success: false } })
    expect(['Invalid media', 'Invalid field']).toContain(answer.body.error)
    expect((await at.ask('GET', '/broadcasts')).body).toEqual(before.body)
    expect(await filesOf()).toEqual(kept)
  })

  it('that the upstream refuses returns 500 and creates no broadcast', async () => {
    const kept = await filesOf()
    await at.world.sim('POST', '/settings', { upload_fails: 1 })
    const answer = await at.post(collection([at.newNumber()]))
    expect(answer).toMatchObject({ status: 500, body: { error: 'Upstream upload failed' } })
    expect(await filesOf()).toEqual(kept)
  })
})

describe('a broadcast with headerMediaId', () => {
  it('keeps the file when the upload has expired before it starts', async () => {
    const headerMediaId = await uploadFile(at.world, at.organization, png())
    const number = at.newNumber()
    const { id } = await at.create(collection([number], { headerMedia: null, headerMediaId, scheduled_at: inDays(2) }))
    at.world.advance(2 * DAY)
    await expireOutcomes(at.world.app.ctx)
    expect(await storedBytes(at.world, at.organization, headerMediaId)).toBeNull()
    await reconcileBroadcasts(at.world.app.ctx)
    await at.world.drain()
    expect(await at.outcomes(id)).toEqual(['sent'])
    expect(await bytesAt((await messageOf(number)).media_url)).toEqual(png())
  })

  it('is refused for an unknown file, a foreign one, and one of another kind', async () => {
    const post = (fields: object) =>
      at.ask('POST', '/broadcasts', {
        body: { name: 'Never', ...collection([at.newNumber()], { headerMedia: null, ...fields }) },
      })
    const stranger = await at.world.createOrganization()
    const foreign = await uploadFile(at.world, stranger, png())
    const wrong = await uploadFile(at.world, at.organization, pdf())
    for (const [headerMediaId, reason] of [
      ['0198c2f0-0000-7000-8000-000000000000', 'unknown_id'],
      [foreign, 'unknown_id'],
      [wrong, 'wrong_type'],
    ]) {
      const answer = await post({ headerMediaId })
      expect([answer.status, answer.body.error, answer.body.reason]).toEqual([400, 'Invalid media', reason])
      expect(answer.body.message).toMatch(/^headerMediaId cannot be used/)
    }
    const both = await post({ headerMediaId: wrong, headerMedia: url })
    expect([both.status, both.body.error]).toEqual([400, 'Invalid field'])
  })
})
