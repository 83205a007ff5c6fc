import { execFile } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readArchive } from '../../src/cli/backup/archive.js'
import { EXPORT, type MovedHead } from '../../src/cli/moving/archive.js'
import { patience } from '../support/patience.js'
import { type Receiver, startReceiver } from '../support/receiver.js'
import { IS_LONG } from '../support/times.js'
import { until } from '../support/until.js'
import type { Answer, TestOrganization } from '../support/world.js'
import { endPrograms, runProgram, startProgram } from './support/programs.js'
import {
  createOrganization,
  makeFolder,
  type Sandbox,
  type Service,
  startSandbox,
  startService,
  succeed,
} from './support/service.js'

const PEOPLE = IS_LONG ? 2_000 : 100
const SENDERS = 4
/** After which part of the archive the import is killed. */
const KILLED_AT = [0.05, 0.4, 0.8, 0.99]

/** Two installations with their own databases, files and secrets. */
describe('an organization that moves from one cell to another under load', () => {
  const cells = {} as Record<'eu1' | 'us1', { service: Service; env: Record<string, string> }>
  let folder: Awaited<ReturnType<typeof makeFolder>>
  let sandbox: Sandbox
  let receiver: Receiver
  let moved: TestOrganization
  let other: TestOrganization
  let archive: string

  const parley = (cell: keyof typeof cells, ...args: string[]) => runProgram(args, { env: cells[cell].env })
  const done = async (cell: keyof typeof cells, ...args: string[]) => {
    const ended = await parley(cell, ...args)
    expect({ args, code: ended.code, errors: ended.code === 0 ? [] : ended.errors }).toEqual({
      args,
      code: 0,
      errors: [],
    })
    return ended.output.join('\n')
  }
  const slugsAt = async (cell: keyof typeof cells): Promise<string[]> =>
    JSON.parse(await done(cell, 'org', 'list', '--json')).map(({ slug }: { slug: string }) => slug)
  /** How many rows of each table an archive has. */
  const rowsIn = async (file: string) => {
    const ignore = async (_header: unknown, content: AsyncIterable<Uint8Array>) => {
      for await (const _chunk of content);
    }
    // A job adds up the counts of contacts, so that their rows become fewer.
    const { contact_counts: _, ...rows } = (await readArchive<MovedHead>(createReadStream(file), EXPORT, ignore)).rows
    return rows
  }

  beforeAll(async () => {
    folder = await makeFolder()
    sandbox = await startSandbox()
    receiver = await startReceiver()
    for (const cell of ['eu1', 'us1'] as const) {
      const env = {
        PARLEY_CELL: cell,
        PARLEY_DATA_DIR: join(folder.path, cell),
        PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
        PARLEY_RATE_LIMIT: '0',
        PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.0/8,::1',
      }
      cells[cell] = { service: await startService(env), env }
    }
    moved = await createOrganization(cells.eu1.service)
    other = await createOrganization(cells.eu1.service)
    for (const { key } of [moved, other]) {
      const body = { url: receiver.url, events: ['*'] }
      await succeed(cells.eu1.service.request('POST', '/set-webhooks', { key, body }))
    }
    archive = join(folder.path, 'moved.tar')
  })

  afterAll(async () => {
    await endPrograms()
    await receiver?.close()
    await folder?.remove()
  })

  /** Sends, and makes customers write and send pictures, until `stop`. Resolves to what the requests were answered. */
  function startLoad({ key, phoneNumberId }: TestOrganization) {
    const { service } = cells.eu1
    const answers: Answer[] = []
    let stopped = false
    let people = 0
    const worker = async () => {
      while (!stopped) {
        const person = ++people
        const number = `1650${5_550_000 + person}`
        answers.push(await service.request('POST', '/contact', { key, body: { phone_number: `+${number}` } }))
        const body = { phone_number: `+${number}`, message_type: 'text', text: `message ${person}` }
        answers.push(await service.request('POST', '/send-chat', { key, body }))
        const inbound = { phone_number_id: phoneNumberId, from: number }
        await sandbox.control('POST', '/inbound', { ...inbound, type: 'text', text: { body: 'Hi' } })
        if (person % 5 === 0) await sandbox.control('POST', '/inbound', { ...inbound, type: 'image', image: {} })
      }
    }
    const workers = Array.from({ length: SENDERS }, worker)
    return {
      people: () => people,
      stop: async () => {
        stopped = true
        await Promise.all(workers)
        return answers
      },
    }
  }

  it('is suspended and exported, and the other one notices nothing', async () => {
    const load = { moved: startLoad(moved), other: startLoad(other) }
    await until(() => load.moved.people() > PEOPLE && load.other.people() > PEOPLE)
    await done('eu1', 'org', 'suspend', moved.slug)
    const answers = await load.moved.stop()
    const later = await cells.eu1.service.request('GET', '/shortlinks', { key: moved.key })
    expect(later).toMatchObject({ status: 503, body: { retry_after: 30 } })
    expect(answers.filter(({ status }) => ![200, 201, 503].includes(status))).toEqual([])

    await done('eu1', 'org', 'export', moved.slug, archive)
    const others = await load.other.stop()
    expect(others.filter(({ status }) => status >= 300)).toEqual([])
    expect((await readFile(archive)).includes(other.id)).toBe(false)
    const kept = Object.keys(await rowsIn(archive))
    for (const table of ['organization_rows', 'directory', 'messages', 'events', 'contacts', 'media', 'webhooks']) {
      expect(kept).toContain(table)
    }
  })

  it('is imported after imports that were killed, and nothing is there twice', async () => {
    const bytes = await readFile(archive)
    const pipe = join(folder.path, 'pipe')
    for (const part of KILLED_AT) {
      await promisify(execFile)('mkfifo', [pipe])
      const importing = await startProgram(['org', 'import', pipe], { env: cells.us1.env })
      importing.firstLine.catch(() => undefined)
      const writer = await open(pipe, 'w')
      await writer.write(bytes.subarray(0, Math.floor(bytes.length * part)))
      importing.kill('SIGKILL')
      await importing.exited
      await writer.close().catch(() => undefined)
      await rm(pipe)
      expect({ part, slugs: await slugsAt('us1') }).toEqual({ part, slugs: [] })
    }
    const imported = JSON.parse(await done('us1', 'org', 'import', archive, '--json'))
    expect(imported).toMatchObject({ organization: moved.slug, violationCount: 0 })
    expect(await slugsAt('us1')).toEqual([moved.slug])
    expect(await parley('us1', 'org', 'import', archive)).toMatchObject({ code: 1 })

    const again = join(folder.path, 'again.tar')
    await done('us1', 'org', 'export', moved.slug, again)
    expect(await rowsIn(again)).toEqual(await rowsIn(archive))
  })

  it('works at the new cell with its keys and its number', async () => {
    const { key, phoneNumberId } = moved
    const { service } = cells.us1
    expect(await service.request('GET', '/shortlinks', { key })).toMatchObject({ status: 503 })
    await done('us1', 'org', 'resume', moved.slug)
    // The first contact of the load.
    const body = { phone_number: '+16505550001', message_type: 'text', text: 'from the new cell' }
    await succeed(service.request('POST', '/send-chat', { key, body }))
    await vi.waitFor(async () => {
      const sent = (await sandbox.accepted()).filter((message) => message.phone_number_id === phoneNumberId)
      const texts = sent.map(({ payload }) => payload.text.body)
      expect(texts.at(-1)).toBe(body.text)
      expect(new Set(texts).size).toBe(texts.length)
    }, patience)
    expect(await cells.eu1.service.request('GET', '/shortlinks', { key })).toMatchObject({ status: 503 })
    await succeed(cells.eu1.service.request('GET', '/shortlinks', { key: other.key }))
    expect(await service.request('GET', '/shortlinks', { key: other.key })).toMatchObject({ status: 401 })
  })
})
