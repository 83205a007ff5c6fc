import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { createContact } from '../../../support/contacts.js'
import { hasFfmpeg, makeWithFfmpeg, withoutFfmpeg } from '../../../support/ffmpeg.js'
import { jpeg, m4a, mp3, mp4, ogg, padded, pdf, png, webp } from '../../../support/media.js'
import { inTime, LATER_MS, passTime } from '../../../support/scheduled.js'
import { type Answer, useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let agent: SignedInMember
let contactId: string

beforeAll(async () => {
  await world.sim('POST', '/settings', { statuses: false })
  agent = await signIn(world, organization, { role: 'agent', fullName: 'Ana Agent' })
  contactId = await createContact(world, organization, '+16505550001')
})

async function upload(
  file: Buffer,
  query: Record<string, string>,
  {
    by = agent,
    headers = {},
    to = contactId,
  }: { by?: SignedInMember; headers?: Record<string, string>; to?: string } = {},
): Promise<Answer> {
  const response = await fetch(`${world.app.url}/console/api/contacts/${to}/files?${new URLSearchParams(query)}`, {
    method: 'POST',
    headers: { cookie: by.cookie, 'content-type': 'application/octet-stream', ...headers },
    body: new Uint8Array(file),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

const newest = async () => (await agent.call('GET', `/contacts/${contactId}/messages`)).body.messages.at(-1)

it.each([
  ['image', jpeg(), { caption: 'look' }, { message: 'look', content: { mime_type: 'image/jpeg' } }],
  ['video', mp4(), {}, { content: { mime_type: 'video/mp4' } }],
  ['audio', mp3(), {}, { content: { mime_type: 'audio/mpeg' } }],
  ['audio', ogg(), {}, { content: { mime_type: 'audio/ogg' } }],
  [
    'document',
    pdf(),
    { filename: 'offer ü.pdf' },
    { content: { mime_type: 'application/pdf', filename: 'offer ü.pdf' } },
  ],
  [
    'document',
    Buffer.concat([Buffer.from('\r\n'), pdf()]),
    { filename: 'bill.pdf' },
    { content: { mime_type: 'application/pdf', filename: 'bill.pdf' } },
  ],
] as const)('a file is sent: %s', async (type, file, query, shown) => {
  const answer = await upload(file, { message_type: type, ...query })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  expect(answer.body).toMatchObject({
    success: true,
    message: 'Message sent successfully',
    data: {
      message_id: expect.any(String),
      recipient: '16505550001',
      message_type: type,
      organization: organization.name,
    },
  })
  const message = await newest()
  expect(message).toMatchObject({
    message_type: type,
    media_type: type,
    sender_type: 'human-chat',
    assignee: { id: agent.member.id },
    ...shown,
  })
  const stored = await fetch(message.media_url)
  expect(Buffer.from(await stored.arrayBuffer()).equals(file)).toBe(true)
})

it('a file can reply to a message of the conversation', async () => {
  const first = await newest()
  expect((await upload(jpeg(), { message_type: 'image', context_message_id: first.id })).status).toBe(200)
  expect((await newest()).context).toMatchObject({ id: first.id, seq: first.seq })
  const unknown = await upload(jpeg(), { message_type: 'image', context_message_id: 'wamid.NONE' })
  expect([unknown.status, unknown.body.error]).toEqual([404, 'Message not found'])
})

it('a file is sent once per Idempotency-Key, and other bytes count as another file', async () => {
  const headers = { 'idempotency-key': 'file-1' }
  const query = { message_type: 'image' }
  const first = await upload(jpeg(), query, { headers })
  const second = await upload(jpeg(), query, { headers })
  expect(second.body).toEqual(first.body)
  expect(second.headers.get('idempotent-replayed')).toBe('true')
  expect((await upload(padded(jpeg(), 2_000), query, { headers })).status).toBe(422)
  expect((await upload(jpeg(), { ...query, caption: 'other' }, { headers })).status).toBe(422)
})

it('a file is sent later, in the name of the member', async () => {
  const before = await newest()
  const query = { message_type: 'document', filename: 'menu.pdf', caption: 'Tomorrow', scheduled_at: inTime(world) }
  const headers = { 'idempotency-key': 'file-later' }
  const answer = await upload(pdf(), query, { headers })
  expect(answer).toMatchObject({
    status: 202,
    body: { scheduled: { message: 'Tomorrow', media_type: 'document', memberId: agent.member.id } },
  })
  expect((await upload(pdf(), query, { headers })).body).toEqual(answer.body)
  const past = await upload(pdf(), { ...query, scheduled_at: '2020-01-01T00:00:00Z' })
  expect([past.status, past.body.error]).toEqual([400, 'Invalid field'])
  expect((await newest()).id).toBe(before.id)
  await passTime(world)
  expect(await newest()).toMatchObject({
    id: answer.body.scheduled.id,
    message: 'Tomorrow',
    sender_type: 'human-chat',
    assignee: { id: agent.member.id },
    content: { filename: 'menu.pdf', mime_type: 'application/pdf' },
  })
  world.advance(LATER_MS)
  expect((await upload(pdf(), query, { headers })).body).toEqual(answer.body)
})

it('a file that is empty, too large, or of an unknown type is refused, and nothing is sent', async () => {
  const { seq } = await newest()
  const big = padded(jpeg(), 5 * 1_048_576 + 1)
  for (const [file, type, reason] of [
    [Buffer.alloc(0), 'image', 'empty'],
    [big, 'image', 'too_big'],
    [pdf(), 'image', 'wrong_type'],
    [Buffer.from('not a sound'), 'audio', 'wrong_type'],
  ] as const) {
    const answer = await upload(file, { message_type: type })
    expect([answer.status, answer.body.error, answer.body.reason]).toEqual([400, 'Invalid media', reason])
  }
  const chunked = await fetch(`${world.app.url}/console/api/contacts/${contactId}/files?message_type=image`, {
    method: 'POST',
    headers: { cookie: agent.cookie, 'content-type': 'application/octet-stream' },
    body: new Blob([new Uint8Array(big)]).stream(),
    duplex: 'half',
  } as RequestInit)
  expect([chunked.status, ((await chunked.json()) as { reason: string }).reason]).toEqual([400, 'too_big'])
  expect((await upload(jpeg(), { message_type: 'text' })).status).toBe(400)
  expect((await upload(jpeg(), {})).status).toBe(400)
  expect((await upload(jpeg(), { message_type: 'image' }, { headers: { 'content-type': 'image/jpeg' } })).status).toBe(
    415,
  )
  expect((await newest()).seq).toBe(seq)
})

it('a recording that must be converted is refused without a converter', async () => {
  await withoutFfmpeg(async () => {
    const answer = await upload(m4a(), { message_type: 'audio' })
    expect([answer.status, answer.body.error]).toEqual([400, 'Invalid media'])
    expect(answer.body.message).toContain('ffmpeg')
  })
})

it.runIf(hasFfmpeg)("a browser's recording becomes a voice note", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-recording-'))
  try {
    for (const [name, codec] of [
      ['recording.webm', 'libopus'],
      ['recording.m4a', 'aac'],
    ] as const) {
      const path = join(folder, name)
      await makeWithFfmpeg(path, '-f', 'lavfi', '-i', 'sine=duration=0.2', '-c:a', codec)
      const answer = await upload(await readFile(path), { message_type: 'audio' })
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      expect((await newest()).content).toMatchObject({ mime_type: 'audio/ogg' })
    }
  } finally {
    await rm(folder, { recursive: true })
  }
})

/** What the upstream got of the newest message. */
const arrived = async () => (await world.sim('GET', '/messages?to=16505550001')).body.messages.at(-1).payload

it('an OGG recording is a voice note or a sound file, as the member chooses', async () => {
  for (const [query, voice] of [
    [{ voice: 'true' }, true],
    [{ voice: 'false' }, undefined],
    [{}, true],
  ] as const) {
    const answer = await upload(ogg(), { message_type: 'audio', ...query })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    expect((await arrived()).audio.voice).toBe(voice)
    expect((await newest()).content).toMatchObject({ type: 'audio', voice: voice === true })
  }
})

it.runIf(hasFfmpeg)('a sound file becomes a voice note, and a picture a sticker', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sound-'))
  try {
    const path = join(folder, 'sound.mp3')
    await makeWithFfmpeg(path, '-f', 'lavfi', '-i', 'sine=duration=0.2', '-c:a', 'libmp3lame')
    const sound = await upload(await readFile(path), { message_type: 'audio', voice: 'true' })
    expect(sound.status, JSON.stringify(sound.body)).toBe(200)
    expect((await arrived()).audio.voice).toBe(true)
    expect((await newest()).content).toMatchObject({ voice: true, mime_type: 'audio/ogg' })
  } finally {
    await rm(folder, { recursive: true })
  }
  for (const picture of [webp(), png()]) {
    const sticker = await upload(picture, { message_type: 'sticker', caption: 'not shown' })
    expect(sticker.status, JSON.stringify(sticker.body)).toBe(200)
    expect((await arrived()).sticker).toEqual({ id: expect.any(String) })
    expect((await newest()).content).toMatchObject({ type: 'sticker', mime_type: 'image/webp' })
  }
})

it('a file that cannot become a sticker is refused', async () => {
  const big = await upload(padded(webp(), 500 * 1_024 + 1), { message_type: 'sticker' })
  expect([big.status, big.body.reason]).toEqual([400, 'too_big'])
  await withoutFfmpeg(async () => {
    const { status, body } = await upload(png(), { message_type: 'sticker' })
    expect([status, body.error]).toEqual([501, 'Not supported'])
    expect(body.message).toContain('ffmpeg')
    const voice = await upload(mp3(), { message_type: 'audio', voice: 'true' })
    expect([voice.status, voice.body.message]).toEqual([501, expect.stringContaining('send it unchanged as a sound')])
  })
  expect((await upload(ogg(), { message_type: 'audio', voice: 'maybe' })).status).toBe(400)
})

it.runIf(hasFfmpeg)('a recording that cannot be converted is refused', async () => {
  const answer = await upload(m4a(), { message_type: 'audio' })
  expect([answer.status, answer.body.reason]).toEqual([400, 'not_convertible'])
})

it('analysts cannot send, and a contact of another organization cannot be sent to', async () => {
  const analyst = await signIn(world, organization, { role: 'analyst' })
  const stranger = await signIn(world, await world.createOrganization())
  const query = { message_type: 'image' }
  expect((await upload(jpeg(), query, { by: analyst })).status).toBe(403)
  expect((await upload(jpeg(), query, { by: stranger })).status).toBe(404)
  expect((await upload(jpeg(), { ...query, instance: 'nobody' })).body.error).toBe('Instance not found')
})
